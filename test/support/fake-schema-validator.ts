import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../src/application/async/deadline.ts';
import type { SchemaCheck, SchemaValidator } from '../../src/application/ports/schema-validator.ts';
import type { SchemaCheckError } from '../../src/domain/gateway/tool-call-error.ts';
import { RecordingLogger } from './recording-logger.ts';

/** Knows only the keyword `required`, of objects. A schema with `does: slow` takes until the test ends the wait; one with `does: fail` cannot be used. */
export class FakeSchemaValidator implements SchemaValidator {
  readonly logger: RecordingLogger;
  readonly #reported = new Set<string>();
  /** Ends the check of a schema that is slow. */
  giveUp = () => {};

  constructor(logger = new RecordingLogger()) {
    this.logger = logger;
  }

  async validate(
    { server, tool, schema, value }: SchemaCheck,
    signal: AbortSignal,
  ): Promise<Result<void, SchemaCheckError>> {
    if (schema.does === 'slow') {
      const gaveUp = new Promise<void>((resolve) => {
        this.giveUp = resolve;
      });
      if ((await untilAborted(gaveUp, signal)) !== 'aborted') return err({ kind: 'unchecked', problem: 'too_slow' });
    }
    if (signal.aborted) return err({ kind: 'aborted' });
    if (schema.does === 'fail') this.#report(`${server}/${tool}`);
    const { required = [] } = schema as { required?: readonly string[] };
    const missing = required.filter((name) => !Object.hasOwn(Object(value), name));
    if (missing.length === 0) return ok();
    return err({ kind: 'mismatch', errors: missing.map((name) => ({ path: `/${name}`, message: 'is required' })) });
  }

  #report(name: string): void {
    if (!this.#reported.has(name)) this.logger.warn(`gateway: a schema of ${name} cannot be used`);
    this.#reported.add(name);
  }
}
