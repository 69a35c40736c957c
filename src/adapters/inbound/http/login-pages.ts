import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { err, ok } from 'neverthrow';
import type { CallerKey } from '../../../application/ports/caller-logins.ts';
import type { PersonSignIn } from '../../../application/ports/person-sign-in.ts';
import { ownerName, ownerOf } from '../../../domain/gateway/login-owner.ts';
import { LOGIN_PAGE, loginProblem } from '../words/login-messages.ts';
import { confirmPage, FIELDS, sentencePage, startPage } from '../words/login-pages.ts';
import { REFUSALS } from '../words/refusal-messages.ts';
import { refuse } from './errors.ts';
import { readBytes } from './json-body.ts';
import { loginCookies } from './login-cookies.ts';
import { methodNotAllowed, type Refusal, refusal, shuttingDown } from './refusal.ts';
import type { HttpEnv, HttpRequest, Middleware } from './request.ts';
import type { LoginServices, Serving } from './services.ts';

/**
 * As those of the other page, with two differences: browsers send `Origin: null` with a form if there is no referrer, and Chromium applies `form-action`
 * to the redirects of an issuer.
 */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const FILES = [
  ['/login.css', 'page.css', 'text/css; charset=utf-8'],
  ['/login.js', 'login.js', 'text/javascript; charset=utf-8'],
] as const;

const CALLBACK = '/login/callback';
const PERSON_CALLBACK = '/login/caller';

/** Everything that the pages need. */
interface Pages extends LoginServices {
  readonly serving: Serving;
  /** The address of a path under the public URL. */
  readonly at: (path: string) => string;
  readonly cookies: ReturnType<typeof loginCookies>;
}

/** Serves what browsers see, which have no token in a header. A request with one goes on to `login-api.ts`. */
export function loginPages(serving: Serving, login: LoginServices): Hono<HttpEnv> {
  const at = (path: string) => new URL(path, serving.publicUrl()).href;
  const pages: Pages = { ...login, serving, at, cookies: loginCookies(login.publicUrl) };
  const app = new Hono<HttpEnv>();
  app.use('/login/*', refuseOtherOrigins(serving));
  for (const [path, name, type] of FILES) {
    let body: string | undefined;
    app.get(path, (c) => {
      body ??= readFileSync(join(login.folder, name), 'utf8');
      return c.body(body, 200, { ...HEADERS, 'Content-Type': type, 'Cache-Control': 'no-cache' });
    });
  }
  app.get(CALLBACK, (c) => withPlace(c, serving, () => endLogin(c, pages)));
  app.all(CALLBACK, (c) => refuse(c, methodNotAllowed(['GET', 'HEAD'])));
  const { people } = login;
  if (people !== undefined)
    app.get(PERSON_CALLBACK, (c) => withPlace(c, serving, () => endPersonSignIn(c, pages, people)));
  app.all(PERSON_CALLBACK, (c) =>
    refuse(c, people === undefined ? noPath(serving) : methodNotAllowed(['GET', 'HEAD'])),
  );
  app.get('/login/:server', (c, next) => {
    const issuer = people && serving.oauth?.issuer;
    const hasTokens = issuer === undefined || serving.tokens().length > 0;
    return isForPrograms(c, serving, login) ? next() : show(c, 200, startPage({ issuer, hasTokens }));
  });
  app.post('/login/:server', (c, next) =>
    people === undefined || isForPrograms(c, serving, login)
      ? next()
      : withPlace(c, serving, () => onForm(c, pages, people)),
  );
  return app;
}

/** Whether a request is no browser's, because it has a token or its path is that of MCP; or there is no server for which the pages are. */
function isForPrograms(c: HttpRequest, { path }: Serving, { servers }: LoginServices): boolean {
  return c.env.incoming.headers.authorization !== undefined || c.req.path === path || servers().length === 0;
}

/** Only these pages may send what begins or ends a login, and not those of an origin that may otherwise call. */
function refuseOtherOrigins({ publicUrl, path }: Serving): Middleware {
  return async (c, next) => {
    const { origin } = c.env.incoming.headers;
    const isSafe = c.req.method === 'GET' || c.req.method === 'HEAD' || c.req.method === 'OPTIONS';
    const own = new URL(publicUrl()).origin;
    if (isSafe || c.req.path === path || origin === undefined || origin === own) return next();
    return refuse(c, refusal('FORBIDDEN', LOGIN_PAGE.otherOrigin(own), { reason: 'origin not allowed' }));
  };
}

function noPath({ path }: Serving): Refusal {
  return refusal('NOT_FOUND', REFUSALS.path(path));
}

/** All browsers share the places of one caller, because it is not yet known who sends these requests. No caller has this name. */
const BROWSERS = ' browsers';

/** Runs what asks an issuer for somebody who has not proved to be a caller. */
async function withPlace(c: HttpRequest, { places, isDraining }: Serving, task: () => Promise<Response>) {
  const refused = isDraining() ? shuttingDown() : places.take(BROWSERS);
  if (refused !== undefined) return refuse(c, refused);
  try {
    return await task();
  } finally {
    places.giveBack(BROWSERS);
  }
}

/** The way back from the issuer of a server. */
async function endLogin(c: HttpRequest, pages: Pages): Promise<Response> {
  const { logins, cookies } = pages;
  const browser = { secretOf: cookies.used(c), mayEnd: (key: CallerKey) => mayEnd(key, pages) };
  const finished = await logins.finish(queryOf(c), browser, c.get('left').signal);
  if (finished.isErr()) return fail(c, pages, 400, loginProblem(finished.error));
  const { server, owner } = finished.value;
  c.get('log').caller = ownerName(owner);
  return show(c, 200, sentencePage('Signed in', LOGIN_PAGE.signedIn(ownerName(owner), server)));
}

/** Whether a caller still exists, and may use the server. The groups of a person are only known with a token, and are checked at each call. */
function mayEnd({ server, owner }: CallerKey, { servers, serving }: Pages): boolean {
  if (!servers().includes(server)) return false;
  if (owner.kind === 'subject') return serving.oauth?.issuer === owner.issuer;
  if (owner.kind === 'local') return false;
  const { name: caller } = owner;
  return serving.tokens().some((token) => token.caller === caller) && serving.rightsOf({ caller }).sees(server);
}

/** The way back from the issuer of the callers: the person has proved who this is, and reads what the next click does. */
async function endPersonSignIn(c: HttpRequest, pages: Pages, people: PersonSignIn): Promise<Response> {
  const { serving, servers, logins, cookies } = pages;
  const { signal } = c.get('left');
  const finished = await people.finish(queryOf(c), cookies.used(c), signal);
  if (finished.isErr()) return fail(c, pages, 400, loginProblem(finished.error));
  const { server, person } = finished.value;
  c.get('log').caller = person.caller;
  const owner = ownerOf(person);
  if (owner === undefined || !servers().includes(server) || !serving.rightsOf(person).sees(server))
    return fail(c, pages, 404, LOGIN_PAGE.noServer);
  const login = await logins.read({ server, owner });
  // A login can be deleted while its server cannot be reached.
  const issuer = (await logins.issuerOf(server, signal)).orElse((problem) => (login ? ok(login.issuer) : err(problem)));
  if (issuer.isErr()) return fail(c, pages, 502, loginProblem(issuer.error));
  const kept = await people.keep(finished.value);
  if (kept.isErr()) return fail(c, pages, 502, loginProblem(kept.error));
  cookies.set(c, kept.value);
  const { state: proof } = kept.value;
  const confirmed = { server, caller: person.caller, issuer: issuer.value, hasLogin: login !== undefined, proof };
  return show(c, 200, confirmPage(confirmed));
}

/** A form of these pages: without a proof, it asks the person to prove who this is. */
async function onForm(c: HttpRequest, pages: Pages, people: PersonSignIn): Promise<Response> {
  const server = c.req.param('server') ?? '';
  const form = await readForm(c);
  if (form === undefined) return fail(c, pages, 400, LOGIN_PAGE.notBegun);
  const { signal } = c.get('left');
  const proof = form.get(FIELDS.proof);
  if (proof === null) return leave(c, pages, await people.begin(server, pages.at(PERSON_CALLBACK), signal));
  const proved = await people.take(proof, pages.cookies.used(c));
  if (proved === undefined || proved.server !== server) return fail(c, pages, 400, LOGIN_PAGE.notBegun);
  const { person } = proved;
  c.get('log').caller = person.caller;
  const owner = ownerOf(person);
  if (owner === undefined || !pages.servers().includes(server) || !pages.serving.rightsOf(person).sees(server))
    return fail(c, pages, 404, LOGIN_PAGE.noServer);
  const key = { server, owner };
  if (form.get(FIELDS.action) === FIELDS.remove) return removeLogin(c, pages, key, person.caller);
  return leave(c, pages, await pages.logins.begin(key, pages.at(CALLBACK), signal));
}

async function removeLogin(c: HttpRequest, pages: Pages, key: CallerKey, caller: string): Promise<Response> {
  const removed = await pages.logins.remove(key, c.get('left').signal);
  if (removed.kind === 'not_deleted') return fail(c, pages, 502, LOGIN_PAGE.notDeleted(removed.reason));
  const say = removed.kind === 'none' ? LOGIN_PAGE.hadNone : LOGIN_PAGE.signedOut;
  const more = removed.kind === 'not_revoked' ? ` ${LOGIN_PAGE.notRevoked(removed.reason)}` : '';
  return show(c, 200, sentencePage('Signed out', pages.serving.redactor.inLogs(say(caller, key.server) + more)));
}

/** Sends the browser to the issuer, whose address is never part of the request. */
function leave(c: HttpRequest, pages: Pages, begun: Awaited<ReturnType<PersonSignIn['begin']>>): Response {
  if (begun.isErr()) return fail(c, pages, 502, loginProblem(begun.error));
  pages.cookies.set(c, begun.value);
  return c.body(null, 303, { ...HEADERS, Location: begun.value.url });
}

/** The largest form of these pages is far smaller. */
const MAX_FORM_BYTES = 4096;

/** The fields of a form; undefined if it is too large. */
async function readForm(c: HttpRequest): Promise<URLSearchParams | undefined> {
  const bytes = await readBytes(c.env.incoming, MAX_FORM_BYTES);
  return bytes === 'too large' ? undefined : new URLSearchParams(bytes.toString());
}

/** The parameters of a callback: one that is given twice counts as absent, because its two readers could use different ones. */
function queryOf(c: HttpRequest) {
  const { searchParams } = new URL(c.req.url);
  return {
    get: (name: string) => {
      const [value = null, ...others] = searchParams.getAll(name);
      return others.length === 0 ? value : null;
    },
  };
}

function show(c: HttpRequest, status: number, page: string): Response {
  const headers = { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8' };
  return c.body(page, status as ContentfulStatusCode, headers);
}

/** Issuers write a part of some sentences. */
function fail(c: HttpRequest, { serving }: Pages, status: number, sentence: string): Response {
  c.get('log').reason ??= 'login failed';
  return show(c, status, sentencePage('Not signed in', serving.redactor.inLogs(sentence), true));
}
