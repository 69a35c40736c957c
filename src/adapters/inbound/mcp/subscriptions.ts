import type { ChangingList } from '../../../application/ports/tool-server.ts';
import { isObject } from '../../../domain/values/json.ts';
import { invalidParams, type Params, type RequestId } from './json-rpc.ts';
import type { Send, ToolReply } from './tool-set.ts';

/** The lists that may change while a client is connected. */
export type ClientList = ChangingList | 'tools';

const LISTS: readonly ClientList[] = ['tools', 'prompts', 'resources'];

/** A member of `_meta` in every message of a subscription (MCP 2026-07-28). */
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

interface Subscription {
  readonly lists: readonly ClientList[];
  readonly notify: (list: ClientList) => void;
  readonly end: () => void;
}

/** The subscriptions of clients of 2026-07-28: in this revision, only clients that have subscribed are notified of a changed list. */
export class Subscriptions {
  readonly #open = new Set<Subscription>();
  /** The lists that have changed while there was no subscription to them: a list is announced only once until it is read again. */
  readonly #missed = new Set<ClientList>();

  /**
   * Serves `subscriptions/listen`: acknowledges the lists that will be reported, and settles when the client cancels, or at `end`. Changes of
   * single resources are not offered, and therefore not acknowledged.
   */
  async listen(id: RequestId, { notifications }: Params, send: Send, signal: AbortSignal): Promise<ToolReply> {
    if (!isObject(notifications)) return { error: invalidParams('notifications must be an object') };
    const lists = LISTS.filter((list) => notifications[`${list}ListChanged`] === true);
    const _meta = { [SUBSCRIPTION_ID]: id };
    const notify = (method: string, params: Params = {}) =>
      send({ jsonrpc: '2.0', method: `notifications/${method}`, params: { ...params, _meta } });
    const honored = Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true]));
    notify('subscriptions/acknowledged', { notifications: honored });
    for (const list of lists) if (this.#missed.delete(list)) notify(`${list}/list_changed`);
    return new Promise((resolve) => {
      const settle = (reply: ToolReply) => {
        this.#open.delete(subscription);
        signal.removeEventListener('abort', onAbort);
        resolve(reply);
      };
      const onAbort = () => settle('cancelled');
      const subscription = {
        lists,
        notify: (list: ClientList) => notify(`${list}/list_changed`),
        end: () => settle({ result: { _meta } }),
      };
      this.#open.add(subscription);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Notifies the clients that listen to a list. */
  notify(list: ClientList): void {
    const listening = [...this.#open].filter(({ lists }) => lists.includes(list));
    if (listening.length === 0) this.#missed.add(list);
    for (const { notify } of listening) notify(list);
  }

  /** Ends all subscriptions with a response, which says that nothing more will come. */
  end(): void {
    for (const subscription of this.#open) subscription.end();
  }
}

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
