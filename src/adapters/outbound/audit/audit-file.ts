import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AuditLog } from '../../../application/ports/audit-log.ts';
import { codeOf, reasonOf } from '../files/local-files.ts';

type Written = Result<void, string>;

const LINE_FEED = 0x0a;
/** The bytes of lines that wait, or could not be written. */
const MAX_KEPT = 4 * 1024 * 1024;

/** A file to which several processes may append. After a failure, the next line opens it again (ruling T11). */
export class AuditFile implements AuditLog {
  readonly #path: string;
  #file: FileHandle | undefined;
  #isStale = false;
  /** The device and the number of the file that was opened last. */
  #identity = '';
  /** Complete lines, and how many bytes of the first one were written. */
  #kept = Buffer.alloc(0);
  #written = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  async ready(): Promise<Written> {
    return this.#file === undefined || this.#isStale ? this.#flush() : ok();
  }

  async append(line: string): Promise<Written> {
    const bytes = Buffer.from(`${line}\n`);
    while (this.#kept.length + bytes.length > MAX_KEPT) {
      const flushed = await this.#flush();
      if (flushed.isErr()) return flushed;
    }
    this.#kept = Buffer.concat([this.#kept, bytes]);
    return this.#flush();
  }

  open(): Promise<Written> {
    this.#isStale = true;
    return this.#flush();
  }

  async close(): Promise<void> {
    await this.#flush();
    await this.#file?.close();
  }

  /** Writes what is kept, after what is being written. What waits is written together. */
  #flush(): Promise<Written> {
    const flushed = this.#last.then(() => this.#write());
    this.#last = flushed;
    return flushed;
  }

  async #write(): Promise<Written> {
    try {
      if (this.#file === undefined || this.#isStale) await this.#open();
      // What is appended in the meantime has its own turn.
      let left = this.#kept.length - this.#written;
      while (this.#file !== undefined && left > 0) {
        const { bytesWritten } = await this.#file.write(this.#kept.subarray(this.#written, this.#written + left));
        left -= bytesWritten;
        this.#written += bytesWritten;
        const end = this.#kept.subarray(0, this.#written).lastIndexOf(LINE_FEED) + 1;
        this.#kept = this.#kept.subarray(end);
        this.#written -= end;
      }
      return ok();
    } catch (error) {
      this.#isStale = true;
      return err(codeOf(error));
    }
  }

  async #open(): Promise<void> {
    const before = this.#file;
    this.#file = undefined;
    await before?.close().catch(() => {});
    this.#isStale = false;
    this.#file = await open(this.#path, 'a', 0o600);
    const { dev, ino, size } = await this.#file.stat();
    // A line that was begun in another file, or in one that was emptied, is written completely.
    if (size === 0 || this.#identity !== `${dev}:${ino}`) this.#written = 0;
    this.#identity = `${dev}:${ino}`;
    if (size === 0 || this.#written > 0) return;
    // A process was killed while it was writing. A file that must not be read has an empty line at most.
    if ((await lastByte(this.#path, size)) !== LINE_FEED) await this.#file.write('\n');
  }
}

/** Undefined if it cannot be read. */
async function lastByte(path: string, size: number): Promise<number | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  const read = await file?.read(Buffer.alloc(1), 0, 1, size - 1).catch(() => undefined);
  await file?.close();
  return read?.buffer[0];
}

/** Why lines cannot be appended to a file; undefined if they can. It is not created: another user may have to write it. */
export function probeAuditFile(path: string): string | undefined {
  return reasonOf(() => {
    if (existsSync(path)) closeSync(openSync(path, 'a'));
    else accessSync(dirname(path), constants.W_OK);
  });
}
