import type { Definitions, KeptDefinitions } from '../../src/application/ports/tool-server.ts';

/** Keeps definitions in memory, which several fakes can share as several processes share a folder. */
export class FakeKeptDefinitions implements KeptDefinitions {
  readonly #kept: Map<string, Definitions>;

  constructor(kept = new Map<string, Definitions>()) {
    this.#kept = kept;
  }

  async read(key: string): Promise<Definitions | undefined> {
    return this.#kept.get(key);
  }

  async write(key: string, definitions: Definitions): Promise<void> {
    this.#kept.set(key, definitions);
  }
}
