import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import spawn from 'cross-spawn';
import { expect, test } from 'vitest';
import { versionedFiles, withVersion } from '../../scripts/lib/versioned-files.js';
import { HOME_VARIABLE } from '../support/platform.ts';
import { newFolder } from './files.ts';
import { ROOT } from './serve.ts';

const files = versionedFiles(ROOT);
const manifests = files.filter((file) => file.endsWith('.json'));
const read = (folder: string, file: string) => readFileSync(path.join(folder, file), 'utf8');
const { version } = JSON.parse(read(ROOT, 'package.json')) as { version: string };

test('every manifest has the version of package.json', () => {
  expect(manifests).toEqual(
    expect.arrayContaining([
      'server.json',
      'gemini-extension.json',
      'plugin/.claude-plugin/plugin.json',
      'plugin/.codex-plugin/plugin.json',
      'plugin/codex.mcp.json',
    ]),
  );
  for (const file of manifests) expect([file, versionsOf(ROOT, file)]).toEqual([file, [version]]);
});

test('every document that names the version has that of package.json', () => {
  const outdated = files.filter((file) => withVersion(file, read(ROOT, file), version) !== read(ROOT, file));
  expect(outdated, 'run "node scripts/set-version.js", and commit the result').toEqual([]);
});

test('npm version writes, commits and tags the version in all of them', () => {
  const folder = newFolder();
  const copied = ['package.json', 'package-lock.json', 'scripts/set-version.js', 'scripts/lib/versioned-files.js'];
  for (const file of [...files, ...copied]) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(folder, file));
  }
  const person = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com' };
  const committer = { GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' };
  const env = { PATH: process.env.PATH, [HOME_VARIABLE]: folder, ...person, ...committer };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('add', '--', ...files, ...copied);
  git('commit', '--quiet', '--message', 'All files');

  const cache = path.join(newFolder(), 'cache');
  const { status, stderr } = spawn.sync(
    'npm',
    ['version', '12.34.56-rc.1', '--no-update-notifier', '--loglevel=error'],
    {
      cwd: folder,
      env: { ...env, npm_config_cache: cache },
      encoding: 'utf8',
    },
  );
  expect(status, stderr).toBe(0);

  for (const file of manifests) expect([file, versionsOf(folder, file)]).toEqual([file, ['12.34.56-rc.1']]);
  const changed = git('show', '--name-only', '--format=', 'v12.34.56-rc.1^{commit}').split('\n');
  const stated = files.filter((file) => withVersion(file, read(ROOT, file), '') !== read(ROOT, file));
  expect(changed.toSorted()).toEqual(['package.json', 'package-lock.json', ...stated].toSorted());
  expect(git('status', '--short', '--untracked-files=no')).toBe('');
  for (const file of stated) expect(read(folder, file).replaceAll('12.34.56-rc.1', version)).toBe(read(ROOT, file));
});

/** The different versions of this project in a manifest: of the file, of a package in it, and of a command. */
function versionsOf(folder: string, file: string): readonly string[] {
  const found: string[] = [];
  JSON.parse(read(folder, file), (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    const [, pin] = /^openai-responses-mcp@(.*)$/.exec(value) ?? [];
    if (key === 'version') found.push(value);
    if (pin !== undefined) found.push(pin);
    return value;
  });
  return [...new Set(found)];
}
