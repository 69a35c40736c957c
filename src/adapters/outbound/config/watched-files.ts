import { createHash } from 'node:crypto';
import type { Clock } from '../../../application/ports/clock.ts';
import { readText } from '../files/local-files.ts';

interface WatchOptions {
  /** The paths of the files now. */
  readonly files: () => readonly string[];
  readonly onChanged: () => void;
  readonly clock: Clock;
}

/** How often the files are read. */
export const LOOK_MS = 500;

/**
 * Calls `onChanged` when the content of a file has changed, and was the same in two looks: a program may write a file in several steps.
 * Looking finds every change, also of links, of network drives and of files in containers, for which systems report no events.
 */
export function watchFiles({ files, onChanged, clock }: WatchOptions): void {
  let known = contentOf(files());
  let last = known;
  const look = () => {
    const now = contentOf(files());
    if (now !== known && now === last) {
      known = now;
      onChanged();
    }
    last = now;
    clock.after(LOOK_MS, look);
  };
  clock.after(LOOK_MS, look);
}

/** A hash, because there may be secrets in the files. One that cannot be read is left out: it may be being replaced. */
function contentOf(files: readonly string[]): string {
  const contents = files.map((file) => ({ file, ...readText(file) })).filter((content) => 'text' in content);
  return createHash('sha256').update(JSON.stringify(contents)).digest('hex');
}
