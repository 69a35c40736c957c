import { createHash } from 'node:crypto';
import type { Clock } from '../../../application/ports/services.ts';
import { readText } from './local-files.ts';

interface WatchOptions {
  /** The current paths of the files. */
  readonly files: () => readonly string[];
  readonly onChanged: () => void;
  readonly clock: Clock;
}

/** Time between two looks at the files. */
export const LOOK_MS = 500;

/**
 * Calls `onChanged` when the content of a file has changed and was the same in two looks, because a program may write a file in several steps.
 * Files are read again and again, because systems report no events for some changes, such as of links, on network drives and in containers.
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

/** A hash, because the files may contain secrets. A file that cannot be read, such as while it is replaced, is left out. */
function contentOf(files: readonly string[]): string {
  const contents = files.map((file) => ({ file, ...readText(file) })).filter((content) => 'text' in content);
  return createHash('sha256').update(JSON.stringify(contents)).digest('hex');
}
