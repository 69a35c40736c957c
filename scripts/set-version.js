// Writes the version of package.json into every file that repeats it, and stages these files: `npm version` runs it before its commit.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { versionedFiles, withVersion } from './lib/versioned-files.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
for (const file of versionedFiles('.')) {
  const text = readFileSync(file, 'utf8');
  const changed = withVersion(file, text, version);
  if (changed === text) continue;
  writeFileSync(file, changed);
  execFileSync('git', ['add', '--', file]);
  console.log(file);
}
