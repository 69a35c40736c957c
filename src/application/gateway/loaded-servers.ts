import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import type { Gateway } from './gateway.ts';

/** A gateway whose servers can be replaced by other ones of the configuration. */
interface ComposedGateway<Server> {
  readonly gateway: Gateway;
  /** If it rejects, nothing was changed. */
  readonly reconfigure: (servers: readonly Server[], approved: ApprovedTools | undefined) => Promise<void>;
  /** Warns about tools that `access` or the lock no longer match. */
  readonly warn: () => void;
}

/** The servers of a process that serves: their gateway is loaded with the first of them, which a reload may add. */
export class LoadedServers<Server> {
  readonly #load: () => Promise<ComposedGateway<Server>>;
  #loaded: ComposedGateway<Server> | undefined;
  #loading: Promise<void> | undefined;

  constructor(load: () => Promise<ComposedGateway<Server>>) {
    this.#load = load;
  }

  /** Undefined until servers are configured and the gateway is loaded. */
  get gateway(): Gateway | undefined {
    return this.#loaded?.gateway;
  }

  get isLoading(): boolean {
    return this.#loading !== undefined;
  }

  /** Resolves with the gateway when it is not being loaded any more. */
  async whenLoaded(): Promise<Gateway | undefined> {
    await this.#loading;
    return this.gateway;
  }

  /** Replaces the servers and the approved tools. If it rejects, nothing was changed. */
  async configure(servers: readonly Server[], approved: ApprovedTools | undefined): Promise<void> {
    if (this.#loaded !== undefined) return this.#loaded.reconfigure(servers, approved);
    if (servers.length === 0) return;
    const first = this.#first(servers, approved);
    this.#loading = first.catch(() => {});
    await first.finally(() => {
      this.#loading = undefined;
    });
  }

  /** Warns about tools that `access` no longer matches, after it has changed. */
  warn(): void {
    this.#loaded?.warn();
  }

  async #first(servers: readonly Server[], approved: ApprovedTools | undefined): Promise<void> {
    this.#loaded = await this.#load();
    await this.#loaded.reconfigure(servers, approved);
  }
}
