import type { ClientList } from '../mcp/subscriptions.ts';

/** The lists that the client has. */
interface Lists {
  readonly tools: { takeOutdated(): boolean };
  /** Undefined if the servers are not exposed. */
  readonly shared?: { takeOutdated(): Iterable<ClientList> } | undefined;
}

/** Notifies the client of lists that are no longer current. Before `connect` and after `end`, no one reads about changes. */
export class ListChanges {
  #lists: Lists | undefined;
  #receivers: readonly ((list: ClientList) => void)[] = [];

  connect(lists: Lists, receivers: readonly ((list: ClientList) => void)[]): void {
    this.#lists = lists;
    this.#receivers = receivers;
  }

  end(): void {
    this.#receivers = [];
  }

  /** Called when the tools of the servers have changed, which may also change what else they share. */
  onToolsChanged(): void {
    if (this.#lists?.tools.takeOutdated()) this.notify('tools');
    for (const list of this.#lists?.shared?.takeOutdated() ?? []) this.notify(list);
  }

  notify(list: ClientList): void {
    for (const receive of this.#receivers) receive(list);
  }
}
