import type { Rights } from '../../domain/gateway/call-origin.ts';

/** Why a server failed last. */
export class LastFailure {
  /** Whether callers share the server: the last line of one that was lost may contain the input of another caller. */
  readonly #isShared: boolean;
  reason: string | undefined;
  /** What the process wrote last, if it was lost after its start. */
  lastLine: string | undefined;

  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** For a caller with these rights. */
  toText(rights: Rights): string | undefined {
    return this.reason && this.explained(this.reason, rights);
  }

  /** A reason with the last line, which only those get who may read the inputs of all callers. */
  explained(reason: string, rights: Rights): string {
    if (this.lastLine === undefined) return reason;
    const mayRead = !this.#isShared || (rights.isOperator && !rights.isForEveryone);
    return mayRead ? `${reason}: ${this.lastLine}` : `${reason}; see the log`;
  }
}
