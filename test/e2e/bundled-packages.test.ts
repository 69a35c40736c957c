import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './serve.ts';

test('packages whose internals are replaced or overridden have exact versions', () => {
  const { devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  for (const name of ['undici', 'htmlparser2', '@redis/client', '@modelcontextprotocol/client', 'openai']) {
    expect(devDependencies[name]).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

test('a build that replaces nothing fails', () => {
  const script =
    "import('./scripts/lib/without-unused-parts.js').then(({ withoutUnusedParts }) => withoutUnusedParts.buildEnd())";
  const build = () => execFileSync(process.execPath, ['-e', script], { cwd: ROOT, stdio: 'pipe' });
  expect(build).toThrow(/no longer bundled.*entities.*undici.*@redis/);
});
