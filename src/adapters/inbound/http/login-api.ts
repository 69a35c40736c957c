import { Hono } from 'hono';
import { err, ok, type Result } from 'neverthrow';
import type { CallerKey, LoginProblem } from '../../../application/ports/caller-logins.ts';
import { type LoginOwner, ownerName, ownerOf } from '../../../domain/gateway/login-owner.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { loginJson } from '../login-json.ts';
import { LOGIN_PAGE, loginProblem } from '../words/login-messages.ts';
import { excerpt } from '../words/plain.ts';
import { refuse, sendJson } from './errors.ts';
import { loginCookies } from './login-cookies.ts';
import { methodNotAllowed, ofToolCallError, type Refusal, refusal } from './refusal.ts';
import type { HttpEnv, HttpRequest } from './request.ts';
import type { LoginServices, Serving } from './services.ts';

/** What the requests with a token do, which REST and the script of the page send. */
export function loginApi(serving: Serving, login: LoginServices): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const cookies = loginCookies(login.publicUrl);
  const { places, redactor } = serving;
  type Answer = Promise<Result<object, Refusal>>;
  const answer = async (c: HttpRequest, task: () => Answer) => {
    const handled = (await places.hold(c, task)).andThen((result) => result);
    if (handled.isErr()) return refuse(c, handled.error);
    // The address of an issuer has to be complete: its state is a secret of this browser.
    return sendJson(c, 200, redactedJson({ success: true, ...handled.value }, redactor.inLogs));
  };
  app.get('/login', (c) => answer(c, () => listOwn(c, login)));
  app.all('/login', (c) => refuse(c, methodNotAllowed(['GET', 'HEAD'])));
  app.get('/login/:server', (c) => answer(c, () => describe(c, login)));
  app.post('/login/:server', async (c) => {
    const begun = (await places.hold(c, () => begin(c, serving, login))).andThen((result) => result);
    if (begun.isErr()) return refuse(c, begun.error);
    cookies.set(c, begun.value);
    return sendJson(c, 200, JSON.stringify({ success: true, url: begun.value.url }));
  });
  app.delete('/login/:server', (c) => answer(c, () => remove(c, login)));
  app.all('/login/:server', (c) => refuse(c, methodNotAllowed(['GET', 'HEAD', 'POST', 'DELETE'])));
  return app;
}

/** To whom the logins of a caller belong. */
function ownerFor(c: HttpRequest): Result<LoginOwner, Refusal> {
  const owner = ownerOf({ caller: c.get('caller'), subject: c.get('subject') });
  const isOwner = owner !== undefined && owner.kind !== 'local';
  return isOwner ? ok(owner) : err(refusal('FORBIDDEN', LOGIN_PAGE.noSubject));
}

/** The login that a request names. A server that is unknown, shared or hidden does not exist for it. */
function keyFor(c: HttpRequest, { servers }: LoginServices): Result<CallerKey, Refusal> {
  const server = c.req.param('server') ?? '';
  const isKnown = servers().includes(server) && c.get('rights').sees(server);
  if (!isKnown) return err(refusal('SERVER_NOT_FOUND', LOGIN_PAGE.noServer, { details: { server: excerpt(server) } }));
  return ownerFor(c).map((owner) => ({ server, owner }));
}

async function listOwn(c: HttpRequest, { logins }: LoginServices) {
  const owner = ownerFor(c);
  if (owner.isErr()) return err(owner.error);
  const own = await logins.list(owner.value);
  return ok({ logins: own.filter(({ server }) => c.get('rights').sees(server)).map(loginJson) });
}

async function describe(c: HttpRequest, login: LoginServices) {
  const found = keyFor(c, login);
  if (found.isErr()) return err(found.error);
  const { server, owner } = found.value;
  const known = await login.logins.read(found.value);
  const state = known?.isAlive ? 'available' : 'login_required';
  const issuer = known?.isAlive ? ok(known.issuer) : await login.logins.issuerOf(server, c.get('left').signal);
  return issuer.mapErr(toRefusal).map((issuer) => ({ server, caller: ownerName(owner), issuer, state }));
}

async function begin(c: HttpRequest, { publicUrl, isDraining }: Serving, login: LoginServices) {
  if (isDraining()) return err(ofToolCallError({ kind: 'shutting_down' }));
  const found = keyFor(c, login);
  if (found.isErr()) return err(found.error);
  const callback = new URL('/login/callback', publicUrl()).href;
  return (await login.logins.begin(found.value, callback, c.get('left').signal)).mapErr(toRefusal);
}

async function remove(c: HttpRequest, login: LoginServices) {
  const found = keyFor(c, login);
  if (found.isErr()) return err(found.error);
  const removed = await login.logins.remove(found.value, c.get('left').signal);
  if (removed.kind === 'not_deleted') return err(refusal('LOGIN_FAILED', LOGIN_PAGE.notDeleted(removed.reason)));
  return ok(removed.kind === 'not_revoked' ? { notRevoked: removed.reason } : {});
}

function toRefusal(problem: LoginProblem): Refusal {
  return refusal('LOGIN_FAILED', loginProblem(problem));
}
