import { parentPort } from 'node:worker_threads';
import type { SchemaError } from '../../../domain/gateway/tool-call-error.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { type CheckValue, compileSchema, cut } from './compile-schema.ts';

/** A schema and a value, as JSON: a thread gets texts at less cost than objects. */
export interface CheckRequest {
  readonly schema: string;
  readonly value: string;
}

/** What the thread is doing, or the outcome. */
export type CheckReport =
  | 'compiling'
  | 'checking'
  | { readonly kind: 'checked'; readonly errors: readonly SchemaError[] }
  | { readonly kind: 'unchecked'; readonly problem: 'failed' }
  | { readonly kind: 'unusable'; readonly reason: string };

const MAX_COMPILED = 50;
const MAX_REASON_LENGTH = 300;

/** The oldest is dropped first. */
const compiled = new Map<string, CheckValue>();

/** The main module of a thread that checks one value after the other: the thread that started it ends it if that takes too long. */
parentPort?.on('message', (request: CheckRequest) => report(outcomeOf(request)));

function outcomeOf({ schema, value }: CheckRequest): CheckReport {
  try {
    report('compiling');
    const check = compiled.get(schema) ?? compile(schema);
    compiled.set(schema, check);
    for (const oldest of compiled.keys()) if (compiled.size > MAX_COMPILED) compiled.delete(oldest);
    report('checking');
    try {
      return { kind: 'checked', errors: check(JSON.parse(value)) };
    } catch {
      // The value may be at fault, such as one that needs too much stack. A check that fails for a simple one too is of no use.
      check(null);
      return { kind: 'unchecked', problem: 'failed' };
    }
  } catch (error) {
    return { kind: 'unusable', reason: cut(String(error), MAX_REASON_LENGTH) };
  }
}

/** A schema with `$async` is refused, wherever that is: its check would be a promise, which counts as a match and then rejects. */
function compile(json: string): CheckValue {
  const schema: JsonObject = JSON.parse(json, (name, value) => {
    if (name === '$async') throw new Error('$async is not supported');
    return value;
  });
  return compileSchema(schema, false);
}

function report(report: CheckReport): void {
  parentPort?.postMessage(report);
}
