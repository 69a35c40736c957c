import { join } from 'node:path';
import { Container } from './container.ts';
import type { GatewayOptions } from './gateway.ts';
import type { Runtime } from './runtime.ts';

export interface ServicesOptions {
  /** The folder of the program, with the recordings of the package. */
  readonly folder: string;
  readonly gateway: Omit<GatewayOptions, 'validator'>;
}

/** What is made when it is first needed, once, and ended with the process. */
export type Services = ReturnType<typeof createServices>;

/** Loads the services, which are made when they are needed. The servers are those that the mode uses. */
export type LoadServices = (gateway: ServicesOptions['gateway']) => Promise<Services>;

/** Everything that a service needs is loaded when it is made, and not before (ruling G24). */
export function createServices(runtime: Runtime, { folder, gateway: options }: ServicesOptions) {
  const container = new Container();
  const validator = container.register(async () => {
    const { AjvSchemaValidator } = await import('../adapters/outbound/mcp-client/ajv-schema-validator.ts');
    return new AjvSchemaValidator(runtime);
  });
  /** Starts the servers. */
  const gateway = container.register(async () => {
    const [{ composeGateway }, loaded] = await Promise.all([import('./gateway.ts'), validator()]);
    return composeGateway(runtime, { ...options, validator: loaded });
  });
  const answers = container.register(async () => {
    const { composeAnswers, openApi } = await import('./answers.ts');
    return composeAnswers(runtime, await openApi(runtime), join(folder, 'recordings'), gateway);
  });
  return {
    application: async () => (await answers()).application,
    gateway,
    validator,
    /** Ends everything that was made, or is being made. */
    close: () => container.close(),
  };
}
