import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { byId, foreign } from './elements.ts';

/** The token, which is kept only in memory. */
let token = '';

const tokenForm = document.getElementById('token-form');
// The other pages of a sign-in need no script.
if (tokenForm instanceof HTMLFormElement) enable(tokenForm);

function enable(form: HTMLFormElement): void {
  form.hidden = false;
  const field = byId('token', HTMLInputElement);
  form.onsubmit = (event) => {
    event.preventDefault();
    token = field.value.trim();
    void attempt(async () => {
      await describe();
      form.hidden = true;
      field.value = '';
    });
  };
  byId('sign-in', HTMLButtonElement).onclick = () =>
    void attempt(async () => {
      const { url } = await send('POST');
      location.assign(issuerUrl(url));
    });
  byId('remove', HTMLButtonElement).onclick = () =>
    void attempt(async () => {
      const { notRevoked } = await send('DELETE');
      const more = notRevoked === undefined ? '' : ` Its tokens could not be revoked: ${String(notRevoked)}`;
      byId('said', HTMLElement).textContent = `The login was deleted.${more}`;
      await describe();
    });
}

/** Shows who signs in, where. */
async function describe(): Promise<void> {
  const { caller, server, issuer, state } = await send('GET');
  const who = byId('who', HTMLElement);
  const [name, at] = [String(caller), String(issuer)];
  who.replaceChildren(foreign(name), ' signs in to ', foreign(String(server)), ' at ', foreign(at, 'code'), '.');
  const hasLogin = state === 'available';
  if (hasLogin) who.append(' There is a login, which a new one replaces.');
  byId('remove', HTMLElement).hidden = !hasLogin;
  byId('first', HTMLElement).hidden = true;
  byId('proved', HTMLElement).hidden = false;
}

/** Runs an action of the person, and shows why it failed. */
async function attempt(action: () => Promise<void>): Promise<void> {
  const trouble = byId('trouble', HTMLElement);
  trouble.hidden = true;
  byId('said', HTMLElement).textContent = '';
  try {
    await action();
  } catch (error) {
    trouble.textContent = error instanceof Error ? error.message : String(error);
    trouble.hidden = false;
  }
}

/** Sends a request about this server; throws an error with the message of a refusal. */
async function send(method: string): Promise<JsonObject> {
  // Other characters cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('The server does not accept this token.');
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(location.pathname, { method, headers, cache: 'no-store' });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && isObject(body)) return body;
  const { error } = isObject(body) ? body : {};
  throw new Error(isObject(error) ? String(error.message) : `HTTP ${response.status}`);
}

/** The address of an issuer: never one that runs a script. */
function issuerUrl(url: unknown): string {
  const { protocol, href } = new URL(String(url));
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('The issuer has no web address.');
  return href;
}
