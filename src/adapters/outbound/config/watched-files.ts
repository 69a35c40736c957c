import { createHash } from 'node:crypto';
import { accessSync, constants, readlinkSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { coalesced } from '../../../application/async/coalesced.ts';
import { never } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { attempted, readText, reasonOf } from '../files/local-files.ts';

interface WatchOptions {
  /** The paths of the files now. */
  readonly files: () => readonly string[];
  /** The last change of the content of a file was half a second ago. */
  readonly onChanged: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls `onEvent` when something in a folder may have changed. Throws, or calls `onError`, if it cannot be watched (any more). */
  readonly watchFolder?: typeof watchByEvents;
}

/** A file may be written in several steps. */
const QUIET_MS = 500;
/** How often files are read at most: others in their folder, such as logs, may change all the time. */
const LOOK_MS = 50;

/** Watches files by their folders, because files are replaced and links exchanged (ruling T20). The returned function reads `files` again. */
export function watchFiles(options: WatchOptions): () => void {
  const { files, onChanged, clock, logger, watchFolder = watchByEvents } = options;
  /** By the identities of folders; undefined if a folder cannot be watched. */
  const watchers = new Map<string, { close(): void } | undefined>();
  let known = contentOf(files());
  let stopWaiting = () => {};
  const open = (folder: string, id: string) => {
    const onError = ({ message }: Error) => {
      watchers.get(id)?.close();
      watchers.set(id, undefined);
      // Windows reports an error if the folder was removed.
      if (identityOf(folder) !== id) return look();
      logger.warn(`gateway: ${folder} cannot be watched, so changes in it need SIGHUP or a restart: ${message}`);
    };
    try {
      watchers.set(id, watchFolder(folder, look, onError));
    } catch (error) {
      onError(error as Error);
    }
    // It may have changed before it was watched.
    look();
  };
  const look = coalesced(async () => {
    const folders = foldersOf(files());
    for (const [id, watcher] of watchers) if (!folders.has(id) && watchers.delete(id)) watcher?.close();
    for (const [id, folder] of folders) if (!watchers.has(id)) open(folder, id);
    const now = contentOf(files());
    if (now !== known) {
      known = now;
      stopWaiting();
      stopWaiting = clock.after(QUIET_MS, onChanged);
    }
    await clock.sleep(LOOK_MS, never());
  });
  look();
  return look;
}

function watchByEvents(folder: string, onEvent: () => void, onError: (error: Error) => void): { close(): void } {
  return watch(folder, { persistent: false }, onEvent).on('error', onError);
}

/** By their identities, all folders on the paths of files, and of what links on them name: each may be replaced. */
function foldersOf(files: readonly string[]): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const add = (folder: string) => {
    const id = identityOf(folder);
    if (id !== undefined) folders.set(id, folder);
  };
  for (const file of files) {
    // As many as on Linux: links may lead to themselves.
    let links = 40;
    const follow = (path: string): string => {
      if (dirname(path) === path) return path;
      const folder = follow(dirname(path));
      const followed = join(folder, basename(path));
      const target = links > 0 ? attempted(() => readlinkSync(followed)) : undefined;
      // Few may read the folder of all homes, which is no reason for a warning.
      if (target !== undefined || reasonOf(() => accessSync(folder, constants.R_OK)) === undefined) add(folder);
      if (target === undefined) return followed;
      links -= 1;
      return follow(resolve(folder, target));
    };
    add(dirname(follow(file)));
  }
  return folders;
}

/** Another one if another folder takes the place of one, which may have the same number; undefined if there is none. */
function identityOf(folder: string): string | undefined {
  const stats = attempted(() => statSync(folder, { bigint: true }));
  return stats && [folder, stats.dev, stats.ino, stats.birthtimeNs].join(':');
}

/** A hash, because there may be secrets in the files. What cannot be read is left out: to name it is no change. */
function contentOf(files: readonly string[]): string {
  const contents = files.map((file) => ({ file, ...readText(file) })).filter((content) => 'text' in content);
  return createHash('sha256').update(JSON.stringify(contents)).digest('hex');
}
