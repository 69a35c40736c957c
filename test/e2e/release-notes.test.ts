import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { newFolder } from './files.ts';
import { ROOT } from './serve.ts';

const CHANGELOG = `# Changelog

## Unreleased

- Not this.

## v1.2.3 — 2026-11-30

### Added

- The first thing, which is
  described in two lines, see [the gateway](gateway.md#pages) and [the policy](../SECURITY.md).
  - A part of it.
- The second, see [MCP](https://modelcontextprotocol.io/).

## v1.2.2 — 2026-11-01

- Nor this.
`;

/** Runs the script in a repository with this version. */
async function releaseNotes(tag: string, version = '1.2.3') {
  const folder = newFolder();
  mkdirSync(path.join(folder, 'docs'));
  writeFileSync(path.join(folder, 'docs', 'changelog.md'), CHANGELOG);
  const homepage = 'https://github.com/owner/name#readme';
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ version, homepage }));
  const script = path.join(ROOT, 'scripts', 'release-notes.js');
  return promisify(execFile)(process.execPath, [script, tag], { cwd: folder }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

test('the notes of a release are its section of the changelog, with links to its tag', async () => {
  expect(await releaseNotes('v1.2.3')).toEqual({
    code: 0,
    stderr: '',
    stdout: `### Added

- The first thing, which is described in two lines, see [the gateway](https://github.com/owner/name/blob/v1.2.3/docs/gateway.md#pages) and [the policy](https://github.com/owner/name/blob/v1.2.3/SECURITY.md).
  - A part of it.
- The second, see [MCP](https://modelcontextprotocol.io/).
`,
  });
});

test.for([
  ['a tag of another version', 'v1.2.2', '1.2.3', 'The tag is "v1.2.2", but the version in package.json is 1.2.3.'],
  ['a version without a section', 'v1.2.4', '1.2.4', 'docs/changelog.md has no section "## v1.2.4 — YYYY-MM-DD".'],
  ['a pre-release', 'v1.2.3-rc.1', '1.2.3-rc.1', 'The version in package.json is 1.2.3-rc.1. Only X.Y.Z is released'],
])('%s is refused', async ([, tag = '', version = '', message = '']) => {
  const { code, stdout, stderr } = await releaseNotes(tag, version);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
});
