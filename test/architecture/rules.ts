import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A file of a program, by its path from the root of the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The TypeScript files in a folder. */
export function filesIn(root: string, folder: string): readonly SourceFile[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join(folder, name).replaceAll('\\', '/'))
    .map((name) => ({ path: name, text: readFileSync(path.join(root, name), 'utf8') }));
}

const TIME = /\b(?:setTimeout|setInterval|AbortSignal\.timeout|Date\.now|performance\.now)\b|\bnew Date\(\)/;

/** The files that have a source of time of their own, although the docstring of the clock does not name them. */
export function ownTimes(files: readonly SourceFile[]): readonly string[] {
  const port = files.find((file) => file.path.endsWith('ports/clock.ts'))?.text ?? '';
  const named = [...port.matchAll(/`([\w-]+\.ts)`/g)].map(([, name = '']) => name);
  return files
    .filter((file) => !file.path.includes('/outbound/clock/') && !file.path.endsWith('ports/clock.ts'))
    .filter(({ text }) => TIME.test(text.replaceAll(/\/\*.*?\*\/|\/\/.*/gs, '')))
    .map((file) => file.path)
    .filter((file) => !named.includes(path.posix.basename(file)));
}

/** Ports whose contract suite does not exist, or does not run on a fake. `tests` are all files of the tests. */
export function untestedPorts(files: readonly SourceFile[], tests: readonly SourceFile[]): readonly string[] {
  const ports = files.filter(
    (file) => file.path.includes('application/ports/') && !/ports\/config\.ts$/.test(file.path),
  );
  return ports
    .map((file) => path.posix.basename(file.path, '.ts'))
    .filter((port) => {
      const suite = `describe-${port}.ts`;
      const users = tests.filter((file) => file.path.endsWith('.test.ts') && file.text.includes(`/${suite}'`));
      const isFake = (text: string) => /from '\.\.\/support\/[\w-]+\.ts'/.test(text);
      return !tests.some((file) => file.path.endsWith(`/${suite}`)) || !users.some(({ text }) => isFake(text));
    });
}

/** The longest file that a reader should have to read. */
const MAX_LINES = 250;

export function longFiles(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ text }) => text.trimEnd().split('\n').length > MAX_LINES).map((file) => file.path);
}
