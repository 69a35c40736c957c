import { type AccessPolicy, unmatchedGrants } from '../../domain/gateway/access.ts';
import type { LeftOut } from '../../domain/gateway/shared-entries.ts';
import type { Gateway } from './gateway.ts';

/** What an operator should know about the tools that the servers have. */
export type ToolNotice =
  | ({ readonly kind: 'unmatched_grant' } & ReturnType<typeof unmatchedGrants>[number])
  /** The lock withholds these tools of a server. */
  | { readonly kind: 'not_approved'; readonly server: string; readonly tools: readonly string[] }
  | { readonly kind: 'left_out'; readonly server: string; readonly leftOut: readonly LeftOut[] };

/** Compares the tools of the servers with `access` and `gateway.lock`. */
export class ToolNotices {
  readonly #gateway: Pick<Gateway, 'servers' | 'tools' | 'changed'>;
  readonly #access: () => AccessPolicy | undefined;
  readonly #unmatched = new Set<string>();
  /** The withheld tools, by server. */
  readonly #withheld = new Map<string, string>();
  /** What was last left out, by server. */
  readonly #leftOut = new Map<string, ReadonlySet<string>>();

  /** `access` returns the section as it is now. */
  constructor(gateway: Pick<Gateway, 'servers' | 'tools' | 'changed'>, access: () => AccessPolicy | undefined) {
    this.#gateway = gateway;
    this.#access = access;
  }

  /** The notices that are new: each grant without a tool once, the tools that the lock withholds when they have changed, and each entry that is left out once. */
  take(): readonly ToolNotice[] {
    return [...this.#newGrants(), ...this.#newWithheld(), ...this.#newLeftOut()];
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
      const isNew = isNewText(this.#withheld, server, tools) && tools.length > 0;
      return isNew ? [{ kind: 'not_approved', server, tools }] : [];
    });
  }

  #newLeftOut(): readonly ToolNotice[] {
    return this.#gateway.servers.flatMap(({ name: server, leftOut: all = [] }) => {
      if (all.length === 0) return [];
      const known = this.#leftOut.get(server);
      const leftOut = all.filter((one) => known?.has(JSON.stringify(one)) !== true);
      this.#leftOut.set(server, new Set(all.map((one) => JSON.stringify(one))));
      return leftOut.length > 0 ? [{ kind: 'left_out', server, leftOut }] : [];
    });
  }
}

/** Whether a server has another value than when it was last asked. Remembers the value. */
function isNewText(known: Map<string, string>, server: string, value: readonly unknown[]): boolean {
  const text = JSON.stringify(value);
  const isNew = known.get(server) !== text;
  known.set(server, text);
  return isNew;
}
