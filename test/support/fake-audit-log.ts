import { err, ok, type Result } from 'neverthrow';
import type { AuditLog } from '../../src/application/ports/callers.ts';

/** A log in memory that fails while `failure` is set, and writes when `wait` resolves. Keeps what it could not write. */
export class FakeAuditLog implements AuditLog {
  failure: string | undefined;
  wait: () => Promise<unknown> = async () => {};
  readonly lines: string[] = [];
  readonly #kept: string[] = [];
  #hasFailed = false;

  /** The lines, parsed. */
  get entries(): readonly Readonly<Record<string, unknown>>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async ready(): Promise<Result<void, string>> {
    return this.#hasFailed ? this.#flush() : ok();
  }

  async append(line: string): Promise<Result<void, string>> {
    this.#kept.push(line);
    await this.wait();
    return this.#flush();
  }

  async open(): Promise<Result<void, string>> {
    return this.#flush();
  }

  async close(): Promise<void> {}

  #flush(): Result<void, string> {
    this.#hasFailed = this.failure !== undefined;
    if (this.failure !== undefined) return err(this.failure);
    this.lines.push(...this.#kept.splice(0));
    return ok();
  }
}
