import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { byId } from './elements.ts';

/** Thrown in place of a response if no token was entered. */
export const NO_TOKEN = new Error('This server requires a token.');

/** Whether people sign in elsewhere: the dialog then opens only if a person asks for it. */
export const signsInElsewhere = byId('issuer', HTMLElement).textContent !== '';

/** The token, which is kept only in memory. */
let token: string | undefined;
/** Whether the dialog was closed without a token: only an action of a person opens it again. */
let isTokenRefused = signsInElsewhere;
let tokenQuestion: Promise<void> | undefined;

export function hasToken(): boolean {
  return token !== undefined;
}

/** Called when a person starts an action: the page may ask for the token again. */
export function allowTokenQuestion(): void {
  isTokenRefused = signsInElsewhere && token === undefined;
}

/** The URL is relative to the page, so that it also works below a path of a proxy. */
export function urlOf(path: string): URL {
  return new URL(`.${path}`, document.baseURI);
}

/** The path of the MCP endpoint. */
export function mcpPath(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="mcp-path"]')?.content ?? '';
}

/** Sends a request, and asks the person for a token if the server requires one. */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  for (;;) {
    const sent = token;
    const response = await send(path, options, sent);
    if (response.status !== 401) return response;
    if (token !== sent) continue;
    byId('change-token', HTMLElement).hidden = false;
    if (isTokenRefused) throw NO_TOKEN;
    await askForToken(sent === undefined ? '' : 'The server no longer accepts this token.');
  }
}

export function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body), signal: signal ?? null });
}

/** The body as JSON; undefined if it is something else, for instance the page of a proxy. */
export function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined);
}

/** The body of a response of this program; throws an error with its message if the request failed. */
export async function bodyOf(response: Response): Promise<JsonObject> {
  const body = await jsonOf(response);
  if (response.ok && isObject(body)) return body;
  const { error } = isObject(body) ? body : {};
  throw new Error(isObject(error) ? String(error.message) : `HTTP ${response.status}`);
}

/** Resolves when the server has accepted a token; rejects with `NO_TOKEN` if the dialog is closed without one. */
export function askForToken(problem: string): Promise<void> {
  tokenQuestion ??= new Promise((resolve, reject) => {
    const dialog = byId('token-dialog', HTMLDialogElement);
    const field = byId('token', HTMLInputElement);
    const showProblem = (text: string) => {
      byId('token-problem', HTMLElement).textContent = text;
    };
    let isAccepted = false;
    showProblem(problem);
    dialog.showModal();
    byId('token-form', HTMLFormElement).onsubmit = async (event) => {
      event.preventDefault();
      const entered = field.value.trim();
      const refused = await problemOf(entered);
      showProblem(refused ?? '');
      if (refused !== undefined) return field.select();
      isAccepted = true;
      token = entered;
      byId('change-token', HTMLElement).textContent = 'Change token';
      resolve();
      dialog.close();
    };
    byId('token-cancel', HTMLElement).onclick = () => dialog.close();
    dialog.onclose = () => {
      tokenQuestion = undefined;
      field.value = '';
      isTokenRefused = !isAccepted;
      reject(NO_TOKEN);
    };
  });
  return tokenQuestion;
}

/** The reason why a token cannot be used; undefined if it can. */
async function problemOf(entered: string): Promise<string | undefined> {
  const refused = 'The server does not accept this token.';
  // Other characters cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(entered)) return refused;
  try {
    return (await send('/mcp/servers', {}, entered)).status === 401 ? refused : undefined;
  } catch (error) {
    return unreachable(error);
  }
}

export function unreachable(error: unknown): string {
  return `The server cannot be reached: ${messageOf(error)}`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function send(path: string, options: RequestInit, withToken: string | undefined): Promise<Response> {
  const headers = new Headers(options.headers);
  if (withToken !== undefined) headers.set('Authorization', `Bearer ${withToken}`);
  return fetch(urlOf(path), { ...options, headers });
}

/** The time between two requests for a list, while a server starts and at other times. */
const STARTING_MS = 1000;
const USUAL_MS = 5000;

interface Loading {
  readonly load: () => Promise<void>;
  /** Called after each attempt. */
  readonly onLoaded: (error: unknown) => void;
  /** Whether something will change soon. */
  readonly isStarting: () => boolean;
}

/** Loads now, and again every few seconds while the page is visible. Returns a function that loads at once. */
export function keepLoading({ load, onLoaded, isStarting }: Loading): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLoading = false;
  let isStale = false;
  const run = async () => {
    clearTimeout(timer);
    isStale = isLoading;
    if (isLoading) return;
    isLoading = true;
    const error = await load().then(
      () => undefined,
      (error: unknown) => error,
    );
    isLoading = false;
    if (!document.hidden) timer = setTimeout(run, isStale ? 0 : isStarting() ? STARTING_MS : USUAL_MS);
    onLoaded(error);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void run()));
  void run();
  return () => void run();
}
