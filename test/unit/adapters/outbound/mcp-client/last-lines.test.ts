import { describe, expect, test } from 'vitest';
import { LastLines } from '../../../../../src/adapters/outbound/mcp-client/last-lines.ts';

test('reports complete lines, however they are divided, and not blank ones', () => {
  const lines: string[] = [];
  const last = new LastLines((line) => void lines.push(line));
  for (const text of ['the key is sk-', 'proj-1', '23\n\n \nnext', '', ' line\nrest']) last.push(text);
  expect(lines).toEqual(['the key is sk-proj-123', 'next line']);
});

test('knows the last line that is not blank, also if it has no end', () => {
  const last = new LastLines(() => {});
  expect(last.last).toBe('');
  last.push('Error: no\r\n\n  \n');
  expect(last.last).toBe('Error: no');
  last.push('  at once');
  expect(last.last).toBe('at once');
});

test('keeps 16 kB, whatever arrives', () => {
  const lines: string[] = [];
  const last = new LastLines((line) => void lines.push(line));
  for (let index = 0; index < 100; index += 1) last.push(`${'x'.repeat(99)} `.repeat(10));
  expect(last.last.length).toBeGreaterThan(16_000);
  expect(last.last.length).toBeLessThanOrEqual(16 * 1024);
  last.push('\nend');
  expect(last.last).toBe('end');
  expect(lines[0]?.length).toBeLessThanOrEqual(17 * 1024);
});

test('keeps no part of a word, of which a secret would not be recognized', () => {
  const lines: string[] = [];
  const last = new LastLines((line) => void lines.push(line));
  last.push(`token s3cr3t-value-123456 ${'x '.repeat(8 * 1024 - 5)}`);
  expect(last.last).toMatch(/^x x/);
  last.push('\n');
  expect(lines[0]?.trim()).toMatch(/^x x/);
});

/** What npm writes, with its name for the level. */
const notFound = (level: string) => `
npm warn Unknown user config "nodedir". This will stop working in the next major version of npm. See \`npm help npmrc\` for supported config options.
npm ${level} code E404
npm ${level} 404 Not Found - GET https://registry.example/@modelcontextprotocol%2fserver-memmory
npm ${level} 404
npm ${level} 404  The requested resource '@modelcontextprotocol/server-memmory@*' could not be found or you do not have permission to access it.
npm ${level} 404
npm ${level} 404 Note that you can also install from a
npm ${level} 404 tarball, folder, http url, or git url.
npm ${level} A complete log of this run can be found in: /home/user/.npm/_logs/2026-11-22T10_51_29_067Z-debug-0.log
`;
const UNREACHABLE = `npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:1/foo failed, reason: connect ECONNREFUSED 127.0.0.1:1
npm error     at ClientRequest.<anonymous> (/usr/lib/node_modules/npm/node_modules/minipass-fetch/lib/index.js:130:14)
npm error   port: 1,
npm error }
npm error
npm error If you are behind a proxy, please make sure that the 'proxy' config is set properly.  See: 'npm help config'
npm error A complete log of this run can be found in: /home/user/.npm/_logs/2026-11-22T10_51_49_527Z-debug-0.log
`;
const NO_PROGRAM = `npm error could not determine executable to run
npm error A complete log of this run can be found in: /home/user/.npm/_logs/2026-11-22T10_51_52_016Z-debug-0.log
`;
const OLD_NOTICE = `npm ERR! code ETARGET
npm ERR! notarget No matching version found for a@99.99.99.
npm ERR! notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.

npm ERR! A complete log of this run can be found in:
npm ERR!     /home/user/.npm/_logs/2026-11-22T10_51_58_733Z-debug-0.log
`;
const UPDATE = `npm notice
npm notice New major version of npm available! 10.9.3 -> 11.6.0
npm notice To update run: npm install -g npm@11.6.0
npm notice
`;

describe('the reason of npm is what it could not do, and not where its log is', () => {
  test.each([
    [
      notFound('error'),
      'npm error 404 Not Found - GET https://registry.example/@modelcontextprotocol%2fserver-memmory',
    ],
    [notFound('ERR!'), 'npm ERR! 404 Not Found - GET https://registry.example/@modelcontextprotocol%2fserver-memmory'],
    [
      UNREACHABLE,
      'npm error FetchError: request to http://127.0.0.1:1/foo failed, reason: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [NO_PROGRAM, 'npm error could not determine executable to run'],
    [OLD_NOTICE, 'npm ERR! notarget No matching version found for a@99.99.99.'],
    [`${notFound('error')}${UPDATE}`, expect.stringContaining('404 Not Found')],
    [`The database is locked.\n${UPDATE}`, 'The database is locked.'],
    [`npm error code 1\nnpm error A complete log of this run can be found in: /x.log\n`, 'npm error code 1'],
    [`${NO_PROGRAM}The next attempt failed too.\n`, 'The next attempt failed too.'],
  ])('%s', (text, reason) => {
    const last = new LastLines(() => {});
    last.push(text);
    expect(last.last).toEqual(reason);
  });
});

/** What Node.js writes. */
const crash = (reason: string) => `/srv/server.mjs:2
throw error
^

${reason}

Node.js v24.21.0
`;
const MISSING = `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'pg' imported from /srv/server.mjs
    at packageResolve (node:internal/modules/esm/resolve:873:9) {
  code: 'ERR_MODULE_NOT_FOUND'
}`;
const SEVERAL = `AggregateError [ECONNREFUSED]: all failed
    at internalConnectMultiple (node:net:1122:18) {
  [errors]: [
    Error: connect ECONNREFUSED 127.0.0.1:5432
        at createConnectionError (node:net:1652:14)
  ]
}`;
const TEXT = `DATABASE_URL is not set
(Use \`node --trace-uncaught ...\` to show where the exception was thrown)`;

describe('the reason of Node.js is the error that nothing caught, and not its version', () => {
  test.each([
    [crash('Error: no\n    at start (/srv/server.mjs:2:7)'), 'Error: no'],
    [crash(MISSING), "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'pg' imported from /srv/server.mjs"],
    [crash(SEVERAL), 'AggregateError [ECONNREFUSED]: all failed'],
    [
      crash('UnhandledPromiseRejection: the reason "x". {\n  code: 1\n}'),
      'UnhandledPromiseRejection: the reason "x". {',
    ],
    [crash(TEXT), 'DATABASE_URL is not set'],
    [`Error: tried again\n${crash('TypeError: x is not a function')}`, 'TypeError: x is not a function'],
    [
      `Error: the cache is cold\n${crash('DatabaseFailure: no such host\n    at connect (/srv/db.mjs:1:2)')}`,
      'DatabaseFailure: no such host',
    ],
    ['Node.js v24.21.0\n', 'Node.js v24.21.0'],
    [`${crash(MISSING)}started again\n`, 'started again'],
  ])('%s', (text, reason) => {
    const last = new LastLines(() => {});
    last.push(text);
    expect(last.last).toBe(reason);
  });
});
