import { APIConnectionError, APIError } from 'openai';
import { type Failure, type FailureContext, toConnectionFailure, toFailure } from './failure.ts';
import { asObject } from './json.ts';

/** The failure that an exception of the `openai` package, or of reading its response, means. */
export function toThrownFailure(thrown: unknown, now: Date, context: FailureContext): Failure {
  if (!(thrown instanceof APIError) || thrown instanceof APIConnectionError || thrown.status === undefined) {
    return toConnectionFailure(thrown, context);
  }
  const retryAfterMs = readRetryAfter(thrown.headers, now);
  return toFailure(
    {
      status: thrown.status,
      error: asObject(thrown.error) ?? { message: isHtml(thrown.message) ? '' : thrown.message },
      name: thrown.constructor.name,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
    context,
  );
}

/** How long a response asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or as a date. */
function readRetryAfter(headers: Headers | undefined, now: Date): number | undefined {
  const inMs = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (inMs > 0) return inMs;
  const header = headers?.get('retry-after')?.trim() ?? '';
  const waitMs = /^\d+(?:\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return waitMs > 0 ? waitMs : undefined;
}

function isHtml(text: string): boolean {
  return /<(?:!doctype|html|head|body)\b/i.test(text);
}
