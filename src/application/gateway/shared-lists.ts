import {
  type LeftOut,
  parseEntry,
  readEntries,
  type SharedEntry,
  type SharedList,
} from '../../domain/gateway/shared-entries.ts';
import { isSameJson } from '../../domain/values/json.ts';
import { never, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/services.ts';
import type { Definitions } from '../ports/tool-server.ts';
import type { RunningServer } from './server-definition.ts';

/** Time limit of a request for a list. Callers do not wait as long. */
const READ_MS = 5000;

const METHODS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list', prompts: 'prompts/list' };

/** The capability that a server must declare to be asked for a list. */
export const CAPABILITY = { resources: 'resources', resourceTemplates: 'resources', prompts: 'prompts' } as const;

/** The resources, templates and prompts of a server, as it last listed them. */
export class SharedLists {
  readonly #server: RunningServer;
  readonly #clock: Clock;
  readonly #onChanged: () => void;
  #entries: Definitions['shared'];
  #leftOut: readonly LeftOut[];
  /** The requests in progress, which all callers share. */
  readonly #reading = new Map<SharedList, Promise<readonly SharedEntry[] | undefined>>();

  constructor(
    server: RunningServer,
    clock: Clock,
    { entries, leftOut }: { readonly entries: Definitions['shared']; readonly leftOut: readonly LeftOut[] },
    onChanged: () => void,
  ) {
    this.#server = server;
    this.#clock = clock;
    this.#entries = entries;
    this.#leftOut = leftOut;
    this.#onChanged = onChanged;
  }

  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** A list is absent if the server was never asked for it, or has never answered. */
  get entries(): Definitions['shared'] {
    return this.#entries;
  }

  /** Asks for every list that the server declares to have. */
  async readAll(): Promise<void> {
    const capabilities = this.#server.connection?.capabilities ?? {};
    const lists = (Object.keys(METHODS) as SharedList[]).filter((list) => capabilities[CAPABILITY[list]] !== undefined);
    await Promise.all(lists.map((list) => this.read(list)));
  }

  /** The current list of the server; undefined if the request fails. */
  read(list: SharedList): Promise<readonly SharedEntry[] | undefined> {
    const reading =
      this.#reading.get(list) ??
      this.#request(list).then((listed) => {
        this.#reading.delete(list);
        return listed && this.#accept(list, listed);
      });
    this.#reading.set(list, reading);
    return reading;
  }

  #accept(list: SharedList, listed: readonly unknown[]): readonly SharedEntry[] {
    const { name } = this.#server.definition;
    const { entries, leftOut: unusable } = readEntries(list, listed, (one) => parseEntry(name, list, one));
    const leftOut = [...this.#leftOut.filter((one) => one.list !== list), ...unusable];
    if (!isSameJson([entries, leftOut], [this.#entries[list], this.#leftOut])) {
      this.#entries = { ...this.#entries, [list]: entries };
      this.#leftOut = leftOut;
      this.#onChanged();
    }
    return entries;
  }

  async #request(list: SharedList): Promise<readonly unknown[] | undefined> {
    const { connection } = this.#server;
    const { outcome } = await withDeadline(this.#clock, READ_MS, never(), async (limit) =>
      connection?.list(METHODS[list], list, limit),
    );
    return outcome?.isOk() ? outcome.value : undefined;
  }
}
