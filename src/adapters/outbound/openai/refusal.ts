import { MAX_EXAMINED } from '../../../domain/values/clean-text.ts';
import { asObject, asText, isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { requestedWaitMs } from './requested-wait.ts';
import { isPage, shownText } from './shown-text.ts';

/** Where a server reports a refusal: in a response with an error status, or in a stream or a body with status 200. */
export interface RefusalPlaces {
  /** The HTTP status. */
  readonly status: number;
  readonly headers?: Headers | undefined;
  /** A JSON value, or the text of a body that may be JSON, a page or anything else. */
  readonly body: unknown;
  readonly now: Date;
}

/** A refusal of the API, whichever of the places of its server it was read from. */
export interface Refusal {
  /** The HTTP status or, for a response with status 200, the status for which its codes stand; undefined if they name none. */
  readonly status: number | undefined;
  /** Codes and types in lower case with underscores, the outermost and most specific ones first. */
  readonly names: readonly string[];
  readonly code: string | undefined;
  readonly type: string | undefined;
  /** The refused parameter, such as `reasoning.effort`; empty if no member names it. */
  readonly param: string;
  /** The words of the server; empty if it sent none. */
  readonly message: string;
  /** Why OpenAI takes a request for a transfer of data in an unintended way; otherwise empty. */
  readonly explanation: string;
  readonly retryAfterMs: number | undefined;
}

/** Reads a refusal from the status, the headers, and all places of the body. */
export function readRefusal({ status: http, headers, body, now }: RefusalPlaces): Refusal {
  const parts: JsonObject[] = [];
  const json = typeof body === 'string' ? (parseJson(body) ?? jsonIn(body)) : body;
  const words = wordsOf(json, parts, 0);
  const message = words === '' ? quoted(body, http) : words;
  const names = parts.flatMap(namesIn);
  const numbers = parts.flatMap((part) => NUMBERS.flatMap((name) => toStatus(part[name])));
  const isOfMembers = parts.some(({ loc }) => Array.isArray(loc));
  const status = http >= 400 ? http : (numbers[0] ?? (isOfMembers ? 422 : statusOf(names)));
  const members = new Map(
    parts.flatMap((part) => Object.entries(part).map(([name, value]) => [name.toLowerCase(), value] as const)),
  );
  const isLimited = status === 429;
  const first = (name: string) => parts.map((part) => asText(part[name])).find((text) => text !== undefined);
  return {
    status,
    names,
    code: first('code'),
    type: first('type'),
    param: parts.map(paramOf).find((param) => param !== '') ?? '',
    message,
    explanation: parts.map(({ misalignment }) => explanationIn(misalignment)).find((text) => text !== '') ?? '',
    retryAfterMs: requestedWaitMs({ headers, members, message: message.slice(0, MAX_EXAMINED), isLimited, now }),
  };
}

/** Members with the words of a refusal, and members with an object or a text in which it is nested. A text may contain JSON. */
const WORDS = [
  'title',
  'error',
  'message',
  'Message',
  'msg',
  'error_message',
  'error_description',
  'detail',
  'faultstring',
  'raw',
];
const NESTED = [
  'errors',
  'details',
  'metadata',
  'body',
  'response',
  'innererror',
  'inner_error',
  'fault',
  'headers',
  'source',
];
const NUMBERS = ['code', 'status', 'status_code', 'statusCode', 'error_code'];
const MAX_DEPTH = 8;
const MAX_PARTS = 50;

/** The words in a value and in what is nested in it. Adds each object to `parts`, the outermost first. */
function wordsOf(value: unknown, parts: JsonObject[], depth: number): string {
  if (depth > MAX_DEPTH || parts.length >= MAX_PARTS) return '';
  if (typeof value === 'string') return wordsOf(jsonIn(value), parts, depth + 1) || shownText(value);
  if (Array.isArray(value))
    return joined(
      value.slice(0, MAX_PARTS).map((each) => wordsOf(each, parts, depth + 1)),
      '; ',
    );
  if (!isObject(value)) return '';
  parts.push(value);
  const found = WORDS.map((name) => wordsOf(value[name], parts, depth + 1));
  const nested = NESTED.map((name) => (typeof value[name] === 'string' ? '' : wordsOf(value[name], parts, depth + 1)));
  const words = joined(
    [
      ...found,
      ...nested,
      ...[value.errors, value.fieldErrors].map((forms) => wordsOf(entriesOf(forms), parts, depth + 1)),
    ],
    ': ',
  );
  const steps = stepsOf(value);
  return steps !== '' && words !== '' ? `${steps}: ${words}` : words;
}

/** What a form such as `{"service_tier": ["Not known."]}` says about each of its members. */
function entriesOf(errors: unknown): unknown {
  if (!isObject(errors) || !Object.values(errors).every(Array.isArray)) return undefined;
  return Object.entries(errors).map(([name, message]) => ({ loc: [name], message }));
}

/** Texts that say something of their own, joined. */
function joined(texts: readonly string[], separator: string): string {
  const said: string[] = [];
  for (const text of texts) if (text !== '' && !said.some((other) => other.includes(text))) said.push(text);
  return said.join(separator);
}

/** How many ends of a JSON object are tried in a text. */
const MAX_ENDS = 5;

/** The first JSON object or list of objects in a text, such as `litellm.BadRequestError: OpenAIException - {"error": …}. Received …`. */
function jsonIn(text: string): unknown {
  const examined = isPage(text) ? '' : text.slice(0, MAX_EXAMINED);
  const start = examined.search(/\{\s{0,9}"|\[\s{0,9}\{/);
  const close = examined.charAt(start) === '[' ? ']' : '}';
  let end = start < 0 ? -1 : examined.lastIndexOf(close);
  for (let tries = 0; tries < MAX_ENDS && end > start; tries += 1) {
    const value = parseJson(examined.slice(start, end + 1));
    if (value !== undefined) return value;
    end = examined.lastIndexOf(close, end - 1);
  }
  return undefined;
}

const PARAMS = ['param', 'parameter', 'field', 'property', 'instancePath', 'pointer'];

/** The parameter that a part of a refusal names, by its name, its path, or a JSON pointer, which a validator completes by what is too much there. */
function paramOf(part: JsonObject): string {
  const named = PARAMS.map((name) => asText(part[name])).find((text) => text !== undefined) ?? stepsOf(part);
  const steps = /^#?\//.test(named) ? named.split('/').slice(1) : [named];
  return [...steps, asText(asObject(part.params)?.additionalProperty) ?? ''].filter((step) => step !== '').join('.');
}

/** The path of a refused member, from a list of its steps, which may begin with `body`. Unknown members of an object are listed beside its path. */
function stepsOf({ loc, path = loc, keys }: JsonObject): string {
  if (!Array.isArray(path)) return '';
  const unknown = Array.isArray(keys) ? keys.slice(0, 1) : [];
  return [...path.filter((step) => step !== 'body'), ...unknown].join('.');
}

function explanationIn(misalignment: unknown): string {
  return isObject(misalignment) ? (asText(misalignment.detailed_explanation) ?? '') : '';
}

/** A body that has no words of a refusal, after its status. */
function quoted(body: unknown, status: number): string {
  const words = shownText(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
  // A page that shows the status alone says nothing of its own.
  const isSaid = /\p{L}/u.test(words) && words !== 'null';
  if (status < 400) return isSaid ? words : '';
  if (!isSaid) return `HTTP status ${status}`;
  return words.includes(String(status)) ? words : `HTTP status ${status}: ${words}`;
}

/** OpenAI's types that come with every code, so that they say something only without one. */
const GENERIC: readonly string[] = ['server_error', 'invalid_request_error'];

function namesIn({ code, type, status, ...part }: JsonObject): readonly string[] {
  if (part.flagged_input !== undefined) return ['content_filter'];
  const codes = [code, part.error_code].flatMap(toName);
  const types = [type, part.error_type, part.__type, status, part.reason].flatMap(toName);
  return [...codes, ...types.filter((name) => codes.length === 0 || !GENERIC.includes(name))];
}

/** A code or type in one spelling: `RateLimitError`, `Rate limit error` and `rate_limit_error` are the same. */
function toName(value: unknown): readonly string[] {
  const text = asText(value)?.slice(0, 200);
  if (text === undefined) return [];
  return [
    text
      .replace(/([a-z\d])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z\d]+/g, '_')
      .toLowerCase(),
  ];
}

/** An error status that a body names as a number or a text. */
function toStatus(value: unknown): readonly number[] {
  const number = typeof value === 'string' && /^\s*\d{3}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 400 && number < 600 ? [number] : [];
}

/** The statuses for which the names stand, of OpenAI and of other servers and gateways. */
const STATUS_OF_NAME: readonly (readonly [RegExp, number])[] = [
  [
    /quota|^billing|^budget_exceeded$|^arrearage$|^access_terminated$|^account_deactivated$|insufficient_(?:credit|fund|balance)|payment_required/,
    429,
  ],
  [/rate_limit|too_many_requests|throttl|resource_(?:has_been_)?exhausted|^(?:tokens|requests)$/, 429],
  [/^(?:content_|bio_policy|cyber_policy)/, 400],
  [/^(?:misalignment_policy_violation|data_residency_mismatch)$|permission|forbidden|access_denied/, 403],
  [/invalid_api_key|auth(?:entication)?_error|unauth/, 401],
  [/not_found/, 404],
  [/overloaded|slow_down|unavailable|bad_gateway|time_?out|timed_out|capacity|upstream|api_(?:connection_)?error/, 503],
  [/^(?:internal|server_error)|provider_(?:returned_)?error|internal_server/, 500],
  [
    /^(?:invalid|unsupported|unknown_param|missing_)|bad_request|context_(?:length|window)|unprocessable|validation/,
    400,
  ],
];

function statusOf(names: readonly string[]): number | undefined {
  for (const name of names) {
    const status = STATUS_OF_NAME.find(([pattern]) => pattern.test(name))?.[1];
    if (status !== undefined) return status;
  }
  return undefined;
}
