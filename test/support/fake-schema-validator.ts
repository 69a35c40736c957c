import type { SchemaCheck, SchemaValidator } from '../../src/application/ports/tool-server.ts';
import type { SchemaError } from '../../src/domain/gateway/tool-call-error.ts';
import { RecordingLogger } from './recording-logger.ts';

/** Knows only the keyword `required`, of objects. A schema with `does: fail` cannot be used. */
export class FakeSchemaValidator implements SchemaValidator {
  readonly logger: RecordingLogger;
  readonly #reported = new Set<unknown>();

  constructor(logger = new RecordingLogger()) {
    this.logger = logger;
  }

  validate({ server, tool, schema, value }: SchemaCheck): SchemaError | undefined {
    if (schema.does === 'fail' && !this.#reported.has(schema)) {
      this.#reported.add(schema);
      this.logger.warn(`gateway: a schema of ${server}/${tool} cannot be used`);
    }
    const { required = [] } = schema as { required?: readonly string[] };
    const missing = required.find((name) => !Object.hasOwn(Object(value), name));
    return missing === undefined ? undefined : { path: `/${missing}`, message: 'is required' };
  }
}
