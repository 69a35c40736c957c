import { accessSync, closeSync, constants, existsSync, openSync, promises, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AuditLog } from '../../../application/ports/callers.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { failureOf } from '../files/local-files.ts';
import { refuseForeignFile, sharedMode } from '../files/written-files.ts';

type Written = Result<void, string>;

/** Maximum number of lines that are kept while they cannot be written. */
const MAX_KEPT = 64;

/** A file to which several processes may append. After a failure, the next line opens it again. */
export class AuditFile implements AuditLog {
  readonly #path: string;
  readonly #warn: (problem: string) => void;
  #file: FileHandle | undefined;
  readonly #kept: string[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** `warn` gets a problem that does not prevent writing. */
  constructor(path: string, warn: (problem: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  async ready(): Promise<Written> {
    return this.#file === undefined ? this.#inTurn(() => this.#flush()) : ok();
  }

  append(line: string): Promise<Written> {
    return this.#inTurn(async () => {
      if (this.#kept.length >= MAX_KEPT) await this.#flush();
      this.#kept.push(line);
      await this.#flush();
    });
  }

  open(): Promise<Written> {
    return this.#inTurn(async () => {
      await this.#forget();
      await this.#flush();
    });
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#forget();
  }

  /** Writes one after the other, so that lines have the order of their calls. */
  #inTurn(write: () => Promise<void>): Promise<Written> {
    const written = this.#last.then(async (): Promise<Written> => {
      try {
        await write();
        return ok();
      } catch (error) {
        await this.#forget();
        return err(reasonOf(error));
      }
    });
    this.#last = written;
    return written;
  }

  async #flush(): Promise<void> {
    this.#file ??= await this.#open();
    for (let line = this.#kept[0]; line !== undefined; line = this.#kept[0]) {
      await this.#file.appendFile(`${line}\n`);
      this.#kept.shift();
    }
  }

  async #forget(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
  }

  async #open(): Promise<FileHandle> {
    const file = await promises.open(this.#path, 'a', 0o600);
    try {
      const stats = await file.stat();
      refuseForeignFile(stats);
      const mode = sharedMode(stats);
      if (mode !== undefined) this.#warn(`other users can open the file, whose mode is ${mode}`);
      // The last line may be incomplete, because a process was killed or the disk was full.
      if (stats.size > 0 && (await lastByte(this.#path, stats.size)) !== '\n') await file.appendFile('\n');
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

/** The last byte of a file; `\n` also if the file can be written, but not read. */
async function lastByte(path: string, size: number): Promise<string> {
  const file = await promises.open(path, 'r').catch(() => undefined);
  const read = await file?.read(Buffer.alloc(1), 0, 1, size - 1).catch(() => undefined);
  await file?.close();
  return read?.buffer.toString('latin1') ?? '\n';
}

/** Why lines cannot be appended to a file; undefined if they can. The file is not created, because another user may have to write it. */
export function probeAuditFile(path: string): string | undefined {
  return failureOf(() => {
    if (!existsSync(path)) return accessSync(dirname(path), constants.W_OK);
    closeSync(openSync(path, 'a'));
    refuseForeignFile(statSync(path));
  });
}
