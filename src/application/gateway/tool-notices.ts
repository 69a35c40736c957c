import { type AccessPolicy, unmatchedGrants } from '../../domain/gateway/access.ts';
import type { Gateway } from './gateway.ts';

/** What an operator should know about the tools that the servers have. */
export type ToolNotice =
  | ({ readonly kind: 'unmatched_grant' } & ReturnType<typeof unmatchedGrants>[number])
  /** The lock withholds these tools of a server. */
  | { readonly kind: 'not_approved'; readonly server: string; readonly tools: readonly string[] };

/** Compares the tools of the servers with `access` and `gateway.lock`. */
export class ToolNotices {
  readonly #gateway: Pick<Gateway, 'servers' | 'tools' | 'changed'>;
  readonly #access: () => AccessPolicy | undefined;
  readonly #unmatched = new Set<string>();
  /** The withheld tools, by server. */
  readonly #withheld = new Map<string, string>();

  /** `access` returns the section as it is now. */
  constructor(gateway: Pick<Gateway, 'servers' | 'tools' | 'changed'>, access: () => AccessPolicy | undefined) {
    this.#gateway = gateway;
    this.#access = access;
  }

  /** The notices that are new: each grant without a tool once, and withheld tools when they have changed. */
  take(): readonly ToolNotice[] {
    return [...this.#newGrants(), ...this.#newWithheld()];
  }

  #newGrants(): readonly ToolNotice[] {
    const policy = this.#access();
    if (policy === undefined) return [];
    return unmatchedGrants(policy, this.#gateway).flatMap((grant) => {
      const key = JSON.stringify(grant);
      if (this.#unmatched.has(key)) return [];
      this.#unmatched.add(key);
      return [{ kind: 'unmatched_grant', ...grant }];
    });
  }

  #newWithheld(): readonly ToolNotice[] {
    return this.#gateway.servers.flatMap(({ name: server, changed: tools = [] }) => {
      const key = JSON.stringify(tools);
      const isNew = tools.length > 0 && this.#withheld.get(server) !== key;
      this.#withheld.set(server, key);
      return isNew ? [{ kind: 'not_approved', server, tools }] : [];
    });
  }
}
