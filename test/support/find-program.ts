import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';

/** The first of these programs that can be run: a path, or a name on the PATH; undefined if there is none. */
export function findProgram(names: readonly string[], { PATH = '' } = process.env): string | undefined {
  const files = names.flatMap((name) =>
    path.isAbsolute(name) ? [name] : PATH.split(path.delimiter).map((folder) => path.join(folder, name)),
  );
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Tests that need one of these programs. Without one, they are skipped, which is reported by name. */
export function describeWith(programs: readonly string[], name: string, tests: (file: string) => void): void {
  const file = findProgram(programs);
  if (file !== undefined) {
    describe(name, () => tests(file));
    return;
  }
  const skipped = `${name}: skipped, because there is no ${programs.join(' or ')} on the PATH`;
  test.skip(skipped);
  process.stderr.write(`${skipped}\n`);
}
