import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { generatedDocs } from '../../scripts/lib/generated-docs.js';
import { ROOT } from './serve.ts';

const docs = await generatedDocs();

test('parts of the documents and the schema of the configuration are generated', () => {
  expect([...docs.keys()]).toEqual([
    'README.md',
    'README.ja.md',
    'docs/clients.md',
    'docs/reference/config-reference.md',
    'docs/gateway.md',
    'docs/reference/transports.md',
    'docs/spec.md',
    'config/config.schema.json',
    'src/domain/answers/list-prices.ts',
  ]);
  const parts = [...docs.values()].flatMap((text) => [...text.matchAll(/<!-- generated: (\S+) -->/g)]);
  expect(parts.map(([, name]) => name)).toEqual([
    ...['install-links', 'install-urls'],
    ...['install-links', 'install-urls'],
    ...['install-links', 'install-commands', 'install-urls'],
    ...['keys', 'options', 'clients', 'client-keys', 'server-keys', 'answer-outcomes', 'tool-outcomes', 'tools'],
  ]);
});

test.for([...docs])('%s is up to date', ([file, text]) => {
  const current = readFileSync(path.join(ROOT, file), 'utf8');
  expect(current, `${file} is out of date: run "npm run docs", and commit the result`).toBe(text);
});
