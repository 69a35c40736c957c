import { join } from 'node:path';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import { Container } from './container.ts';
import type { GatewayOptions } from './gateway.ts';
import { keptDefinitions } from './kept-definitions.ts';
import type { Runtime } from './runtime.ts';

export interface ServicesOptions {
  /** The folder of the program, with the recordings of the package. */
  readonly folder: string;
  readonly gateway: Omit<GatewayOptions, 'validator'>;
  /** Calls a tool for the model. */
  readonly call: AnswerGateway['call'];
}

/** What is made when it is first needed, once, and ended with the process. */
export type Services = ReturnType<typeof createServices>;

/** Loads the services, which are made when they are needed. The servers are those that the mode uses. */
export type LoadServices = (options: Omit<ServicesOptions, 'folder'>) => Promise<Services>;

/** Everything that a service needs is loaded when it is made, and not before. */
export function createServices(runtime: Runtime, { folder, gateway: options, call }: ServicesOptions) {
  const container = new Container();
  const validator = container.register(async () => {
    const { AjvSchemaValidator } = await import('../adapters/outbound/mcp-client/ajv-schema-validator.ts');
    return new AjvSchemaValidator(runtime.logger);
  });
  /** Starts the servers. */
  const gateway = container.register(async () => {
    const { composeGateway } = await import('./gateway.ts');
    return composeGateway(runtime, { ...options, validator, kept: keptDefinitions(runtime) });
  });
  const answers = container.register(async () => {
    const { composeAnswers, openApi } = await import('./answers.ts');
    return composeAnswers(runtime, await openApi(runtime), join(folder, 'recordings'), async () => ({
      ...(await gateway()),
      call,
    }));
  });
  const check = container.register(async () => (await import('./check.ts')).composeCheck(runtime));
  return {
    application: async () => (await answers()).application,
    gateway,
    check,
    /** Ends everything that was made, or is being made. */
    close: () => container.close(),
  };
}
