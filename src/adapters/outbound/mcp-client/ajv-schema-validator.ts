import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SchemaCheck, SchemaValidator } from '../../../application/ports/schema-validator.ts';
import type { SchemaCheckError, SchemaError } from '../../../domain/gateway/tool-call-error.ts';
import { BoundedSet } from '../../../domain/values/bounded-set.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { jsonExtent } from '../../../domain/values/json-extent.ts';
import { type CheckCost, costOf } from './check-cost.ts';
import { CheckingThread } from './checking-thread.ts';
import { type CheckValue, compileSchema } from './compile-schema.ts';

/** A check of so many steps takes a few milliseconds. */
const MAX_STEPS = 50_000;
const CHARACTERS_PER_STEP = 64;
/** What can be written as JSON, for the thread, in some milliseconds. */
const MAX_VALUES = 100_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_SCHEMA_CHARACTERS = 1024 * 1024;

/** For a small schema of plain keywords. */
interface PlainCheck {
  readonly run: CheckValue;
  readonly cost: Readonly<CheckCost>;
}

/** The main module of the thread. One of Node.js 20 cannot load TypeScript: the sources, in tests, use the built one. */
const BUILT = import.meta.url.endsWith('.ts') ? '../../../../build/chunks/' : './';
const THREAD = new URL(`${BUILT}schema-worker.js`, import.meta.url);

/**
 * JSON Schema by ajv. Small values are checked at once against small schemas of plain keywords; all others in a thread. What was prepared
 * for a schema is kept as long as the schema.
 */
export class AjvSchemaValidator implements SchemaValidator {
  readonly #logger: Logger;
  readonly #thread: CheckingThread;
  readonly #prepared = new WeakMap<JsonObject, PlainCheck | 'thread' | 'unusable'>();
  /** The tools whose schema was reported as not usable. */
  readonly #reported = new BoundedSet();

  constructor({ clock, logger, thread = THREAD }: { clock: Clock; logger: Logger; thread?: URL }) {
    this.#logger = logger;
    this.#thread = new CheckingThread(clock, thread);
  }

  async validate(check: SchemaCheck, signal: AbortSignal): Promise<Result<void, SchemaCheckError>> {
    if (signal.aborted) return err({ kind: 'aborted' });
    const { server, caller, schema, value } = check;
    const prepared = this.#prepare(check);
    if (prepared === 'unusable') return ok();
    const { values, characters, longestName } = jsonExtent(value, MAX_VALUES);
    if (prepared !== 'thread') {
      const { perValue, perCharacter, perNameCharacter } = prepared.cost;
      const ofValue = perValue + longestName * perNameCharacter;
      const steps = values * ofValue + (characters / CHARACTERS_PER_STEP) * perCharacter;
      if (steps <= MAX_STEPS) return toResult(prepared.run(value));
    }
    if (values > MAX_VALUES || characters > MAX_CHARACTERS) return err({ kind: 'unchecked', problem: 'too_large' });
    const toRequest = () =>
      this.#prepared.get(schema) === 'unusable'
        ? undefined
        : { schema: JSON.stringify(schema), value: JSON.stringify(value) };
    const onUnusable = (reason: string) => void this.#prepared.set(schema, this.#unusable(check, reason));
    const outcome = await this.#thread.run({ server, caller, toRequest, onUnusable }, signal);
    if (outcome === undefined) return ok();
    if (outcome === 'aborted') return err({ kind: 'aborted' });
    return outcome.kind === 'unchecked' ? err(outcome) : toResult(outcome.errors);
  }

  /** Resolves when the thread has ended. Later, only what needs no thread is checked. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  #prepare(check: SchemaCheck): PlainCheck | 'thread' | 'unusable' {
    const { schema } = check;
    const known = this.#prepared.get(schema);
    if (known !== undefined) return known;
    const { values, characters } = jsonExtent(schema, MAX_VALUES);
    const cost = costOf(schema);
    let prepared: PlainCheck | 'thread' | 'unusable' = 'thread';
    if (values > MAX_VALUES || characters > MAX_SCHEMA_CHARACTERS) prepared = this.#unusable(check, 'it is too large');
    else if (cost !== undefined) prepared = { run: compileSchema(schema, true), cost };
    this.#prepared.set(schema, prepared);
    return prepared;
  }

  #unusable({ server, tool }: SchemaCheck, reason: string): 'unusable' {
    const name = `${server}/${tool}`;
    if (!this.#reported.has(name)) {
      this.#reported.add(name);
      this.#logger.warn(`gateway: a schema of ${name} cannot be used, so values are not checked against it: ${reason}`);
    }
    return 'unusable';
  }
}

function toResult(errors: readonly SchemaError[]): Result<void, SchemaCheckError> {
  return errors.length === 0 ? ok() : err({ kind: 'mismatch', errors });
}
