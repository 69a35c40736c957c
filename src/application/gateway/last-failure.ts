import type { Rights } from '../../domain/gateway/call-origin.ts';

/** The reason of a server's last failure. */
export class LastFailure {
  /** Whether callers share the server. Its last line may then contain the input of another caller. */
  readonly #isShared: boolean;
  reason: string | undefined;
  /** The last line of the process, if it was lost after its start. */
  lastLine: string | undefined;

  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** The reason for a caller with these rights. */
  toText(rights: Rights): string | undefined {
    return this.reason && this.explained(this.reason, rights);
  }

  /** Adds the last line to the reason, for callers who may read the inputs of all others. */
  explained(reason: string, rights: Rights): string {
    if (this.lastLine === undefined) return reason;
    const mayRead = !this.#isShared || (rights.isOperator && !rights.isForEveryone);
    return mayRead ? `${reason}: ${this.lastLine}` : `${reason}; see the log`;
  }
}
