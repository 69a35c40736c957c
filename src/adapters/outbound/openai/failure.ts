import type { SearchError } from '../../../domain/answer-error.ts';
import type { Rejection } from './rejections.ts';

/** Why an attempt failed, and whether to try again. */
export interface Failure {
  readonly error: SearchError;
  /** Waiting may help: 429 except exhausted quotas, 5xx, a broken connection (ruling 12). */
  readonly isTransient: boolean;
  readonly rejection?: Rejection;
  /** For the debug log. */
  readonly log: {
    readonly status?: number | string;
    readonly name?: string;
    readonly code?: string;
    readonly message: string;
    readonly body?: string;
  };
}

/** What all failures of an attempt have in common. */
export interface FailureContext {
  readonly model: string;
  readonly apiKeyVariable: string;
  /** The API's host, and the proxy on the way to it. */
  readonly route: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** Redacts keys in what the API reported. */
  readonly redact: (text: string) => string;
}

const DETAIL_LENGTH = 300;

/** A failure that another attempt cannot resolve, and that is not an error of the API. */
export function permanentFailure(error: SearchError, message: string, body?: string): Failure {
  return { error, isTransient: false, log: { message, ...(body === undefined ? {} : { body }) } };
}

/** One line of at most 300 characters. */
export function excerpt(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  return characters.length > DETAIL_LENGTH ? `${characters.slice(0, DETAIL_LENGTH).join('')}…` : characters.join('');
}
