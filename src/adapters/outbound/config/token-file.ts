import { createHash } from 'node:crypto';
import { LOCAL_CALLER, TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import { readText } from '../files/local-files.ts';

/** A token of a caller, of which only the SHA-256 is kept. */
export interface CallerToken {
  readonly caller: string;
  readonly hash: Buffer;
}

/** The tokens of a file, at least one, or every reason why the file cannot be used. */
export type TokenFile = { readonly tokens: readonly CallerToken[] } | { readonly problems: readonly string[] };

/** No line is shown, because it may be a token by mistake. */
const LINE =
  'expected a caller, the SHA-256 of the token in hexadecimal (not the token itself) and, if you like, a note; the command token <caller> creates such a line';
const CREATE = 'write a line that the command token <caller> creates';

/** The hash of a variable that was not set, with which requests without a token would be accepted. */
const EMPTY = hashOfToken('');

/** Reads `http.token_file`. `others` are the tokens of variables: a caller may be in both, a token only under one caller. */
export function readTokenFile(path: string, others: readonly CallerToken[]): TokenFile & { readonly content: string } {
  const read = readText(path);
  if ('reason' in read) return { content: '', problems: [`expected a file that can be read (${read.reason})`] };
  return { content: read.text, ...parseTokens(read.text, others) };
}

function parseTokens(text: string, others: readonly CallerToken[]): TokenFile {
  if (/[\0\uFFFD]/.test(text)) return { problems: ['expected text in UTF-8'] };
  const tokens: (CallerToken & { readonly place: string })[] = [];
  const problems: string[] = [];
  for (const [index, row] of text.split(/\r\n?|\n/).entries()) {
    const [caller = '', sha256 = ''] = row.trim().split(/\s+/);
    if (caller === '' || caller.startsWith('#')) continue;
    const place = `line ${index + 1}`;
    const isLine = TOKEN_CALLER.test(caller) && /^[\da-f]{64}$/i.test(sha256);
    const hash = Buffer.from(isLine ? sha256 : '', 'hex');
    const twin = tokens.find((other) => other.hash.equals(hash));
    const other = others.find((one) => one.caller !== caller && one.hash.equals(hash));
    if (!isLine) problems.push(`${place}: ${LINE}`);
    else if (caller === LOCAL_CALLER)
      problems.push(`${place}: ${LOCAL_CALLER} is the user of this machine; give the caller another name`);
    else if (hash.equals(EMPTY)) problems.push(`${place}: this is the SHA-256 of an empty text; ${CREATE}`);
    else if (twin?.caller === caller) problems.push(`${place}: repeats ${twin.place}; remove one of them`);
    else if (twin !== undefined) problems.push(`${place}: has the token of ${twin.place}; ${OWN_TOKEN}`);
    else if (other !== undefined)
      problems.push(`${place}: has the token of ${other.caller} (http.token_env); ${OWN_TOKEN}`);
    else tokens.push({ caller, hash, place });
  }
  if (problems.length > 0) return { problems };
  return tokens.length > 0 ? { tokens } : { problems: [`expected a token; ${CREATE}`] };
}

const OWN_TOKEN = 'each caller needs a token of its own';

/** The hash by which a token is known. All hashes have the same length. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Problems as one text. A file of another format has one in every line, so that only the first ones are named. */
export function listOfProblems(problems: readonly string[]): string {
  const more = problems.length - MAX_NAMED;
  return [...problems.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const MAX_NAMED = 5;
