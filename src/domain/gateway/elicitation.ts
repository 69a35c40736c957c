import { withoutUnsafeCharacters } from '../values/clean-text.ts';
import { rounded } from '../values/exact-number.ts';
import { isObject, type JsonObject } from '../values/json.ts';
import type { Kind } from '../values/kind.ts';
import { isFormSchema } from './elicitation-schema.ts';

/** What a server asks the person who called, while its tool runs: to fill in a form, or to visit a URL (MCP, elicitation). */
export type Elicitation =
  | Asked<'form', { readonly schema: JsonObject }>
  /** The person is asked to open the URL; the program never opens it. */
  | Asked<'url', { readonly url: string }>;

interface AskedBase {
  /** The server that asks. */
  readonly server: string;
  /** The text of the server, without characters that control a terminal or hide text. */
  readonly message: string;
  /** The parameters of the request as the server wrote them. */
  readonly params: JsonObject;
}

type Asked<Mode extends string, Members> = AskedBase & { readonly mode: Mode } & Members;

/** What the person did: accepted, with the content of a form; declined; or cancelled without a choice. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: JsonObject | undefined }
  | { readonly action: 'decline' | 'cancel' };

/** Asks the person who made a call. A call without it is that of a caller who cannot be asked. */
export interface Asker {
  /** What the caller can be asked, as clients declare it in MCP: `elicitation` with `form` and `url`. Others are passed on only by a `relay`. */
  readonly declared: JsonObject;
  /** The caller reads the `input_required` of a server itself and retries (MCP 2026-07-28), so that such results are passed on. */
  readonly isRelay?: boolean | undefined;
  /** Asks the person, and waits for the answer, or says why there is none. Never rejects, and resolves soon after `signal` aborts. */
  ask(elicitation: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer | NotAnswered>;
  /** The number of questions of all calls of this caller that wait while the caller is away, at all servers or at one. Absent if none can. */
  open?(server?: string): number;
  /** Called when the server reports that what it asked with a URL is done. */
  onCompleted?(elicitationId: string): void;
}

/** What a client adds to a call that it repeats, to answer a question (MCP 2026-07-28). */
export interface Retry {
  /** The answers, by the keys of the requests. */
  readonly inputResponses?: JsonObject | undefined;
  readonly requestState?: string | undefined;
  /** What the person did so far, in all requests of the call. */
  readonly answered?: readonly ElicitationAnswer['action'][];
}

/** Why the person was not asked, or has not answered. */
export type NotAnswered =
  /** The caller cannot be asked, or not in this mode. */
  | 'nobody'
  /** Calls of several callers were running, and it is not known whose call asked. */
  | 'others'
  /** No answer came within `question_timeout`. */
  | 'late'
  /** The call has asked too often. */
  | 'too_many'
  /** Too many questions of the caller are open. */
  | 'too_many_open'
  /** The request is too large, or its form is not one of MCP. */
  | 'invalid'
  /** The person declined to visit a URL without which the tool cannot run. */
  | 'declined'
  /** The program is shutting down, or the client is gone. */
  | 'ended';

/** A call that ended because a question of its server was not answered. */
export type InputRequired = Kind<
  'input_required',
  {
    server: string;
    /** Absent if the server only declared that it needs someone to ask. */
    elicitation?: Elicitation | undefined;
    /** The requests as the server wrote them. */
    requests: readonly JsonObject[];
    why: NotAnswered;
    /** How long the answer was awaited, in milliseconds. */
    waitedMs?: number | undefined;
    /** What the tool returned after it got no answer: it may have succeeded. */
    result?: JsonObject | undefined;
  }
>;

/** Size of the parameters of a request, above which nobody is asked. */
const MAX_BYTES = 64 * 1024;

/** Reads the parameters of `elicitation/create` of a server that speaks this revision; undefined if nobody can be asked that. */
export function parseElicitation(server: string, params: unknown, revision: string): Elicitation | undefined {
  if (!isObject(params) || typeof params.message !== 'string') return undefined;
  if (new TextEncoder().encode(JSON.stringify(params)).length > MAX_BYTES) return undefined;
  const { mode, message: written, requestedSchema, url } = params;
  const asked = { server, message: withoutUnsafeCharacters(written), params };
  if (mode === 'url') return typeof url === 'string' && URL.canParse(url) ? { ...asked, mode, url } : undefined;
  // The limits of an integer of 64 bits are no numbers of JavaScript.
  const schema = rounded(requestedSchema);
  const isForm = (mode ?? 'form') === 'form' && isFormSchema(schema, revision);
  return isForm ? { ...asked, mode: 'form', schema } : undefined;
}

/** What the person did, as clients say it; undefined if the value is not that. */
export function parseAnswer(value: unknown): ElicitationAnswer | undefined {
  if (!isObject(value)) return undefined;
  const { action, content } = value;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') return undefined;
  return isObject(content) ? { action, content } : { action };
}

/** What the person did, in the order of the answers of a retry. */
export function actionsIn({ inputResponses = {} }: Retry): readonly ElicitationAnswer['action'][] {
  return Object.values(inputResponses).flatMap((response) => parseAnswer(response)?.action ?? []);
}

/** The question as a person reads it, who must know which server asks. */
export function askedText({ server, message }: Pick<Elicitation, 'server' | 'message'>): string {
  return `${server} asks: ${message}`;
}

/** What a caller declares who can be asked in both modes (MCP, client capabilities). */
export const ASKABLE: JsonObject = { elicitation: { form: {}, url: {} } };

/** The modes in which a caller can be asked. `elicitation: {}` means forms. */
export function modesOf(declared: JsonObject): readonly Elicitation['mode'][] {
  const { elicitation } = declared;
  if (typeof elicitation !== 'object' || elicitation === null) return [];
  const hasForm = 'form' in elicitation || !('url' in elicitation);
  return [...(hasForm ? (['form'] as const) : []), ...('url' in elicitation ? (['url'] as const) : [])];
}
