import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { Gateway } from '../application/gateway.ts';
import type { AnswerGateway } from '../application/grounded-calls.ts';
import type { Runtime } from '../bootstrap.ts';
import type { ComposedGateway, ComposeGatewayOptions } from '../compose-gateway.ts';

export type GatewayHooks = Omit<ComposeGatewayOptions, 'servers'>;
type Compose = (options: ComposeGatewayOptions) => Promise<ComposedGateway>;

/** The gateway of the process. It is loaded when the first server is configured, and closed with the process. */
export class GatewayHolder {
  readonly #compose: Compose;
  #composing: Promise<ComposedGateway> | undefined;
  #gateway: Gateway | undefined;
  #loading: Promise<void> | undefined;
  #servers: readonly ServerEntry[] = [];

  constructor(compose: Compose) {
    this.#compose = compose;
  }

  /** Undefined while no server was configured. */
  get gateway(): Gateway | undefined {
    return this.#gateway;
  }

  /** Resolves when the gateway, which is being loaded, can be used; undefined at other times. */
  get loading(): Promise<void> | undefined {
    return this.#loading;
  }

  /** Starts the servers, or replaces those that are running. Resolves when that has been done; if it rejects, nothing was changed. */
  async configure(servers: readonly ServerEntry[], hooks: GatewayHooks): Promise<void> {
    if (this.#composing !== undefined) {
      await (await this.#composing).reconfigure(servers);
      this.#servers = servers;
      return;
    }
    if (servers.length > 0) await this.start(servers, hooks);
  }

  /** Starts the servers with the first call, or with the next one if that failed. */
  start(servers: readonly ServerEntry[], hooks: GatewayHooks): Promise<Gateway> {
    if (this.#composing === undefined) {
      this.#servers = servers;
      this.#composing = this.#compose({ ...hooks, servers }).catch((bug: unknown) => {
        // The next call tries again.
        this.#composing = undefined;
        throw bug;
      });
      const onLoaded = (composed?: ComposedGateway) => {
        this.#gateway = composed?.gateway;
        this.#loading = undefined;
      };
      // Whoever starts the servers handles the rejection.
      this.#loading = this.#composing.then(onLoaded, () => onLoaded());
    }
    return this.#composing.then(({ gateway }) => gateway);
  }

  /** Starts the servers whose tools answers use, unless servers have been started; with `expose`, clients use all of them. */
  async forAnswers({ config, logger }: Runtime): Promise<AnswerGateway> {
    const { servers = [], grounding, gateway } = config;
    const used = gateway.expose ? servers : servers.filter(({ name }) => Object.hasOwn(grounding?.tools ?? {}, name));
    const started = await this.start(used, { onCallEnded: () => {}, logSpawn: (line) => logger.debug(line) });
    const isPublic = (server: string) => this.#servers.some(({ name, isPublic }) => name === server && isPublic);
    return { gateway: started, isPublic };
  }

  /** Resolves when nothing of any server is left. */
  async close(): Promise<void> {
    const composed = await this.#composing?.catch(() => undefined);
    await composed?.close();
  }
}
