import { expect, test } from 'vitest';
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

/** The last line of what a process wrote. */
function reasonIn(text: string): string {
  const last = new LastLines(() => {});
  last.push(text);
  return last.last;
}

const LOG = 'npm error A complete log of this run can be found in: /home/user/.npm/_logs/x-debug-0.log\n';
/** What npm writes, with its name for the level. */
const notFound = (level: string) => `
npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.
npm ${level} code E404
npm ${level} 404 Not Found - GET https://registry.example/server-memmory
npm ${level} 404
npm ${level} 404 Note that you can also install from a
npm ${level} 404 tarball, folder, http url, or git url.
${LOG}`;
const UNREACHABLE = `npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:1/foo failed
npm error     at ClientRequest.<anonymous> (/usr/lib/index.js:130:14)
npm error If you are behind a proxy, please make sure that the 'proxy' config is set properly.
${LOG}`;
const NO_PROGRAM = `npm error could not determine executable to run\n${LOG}`;
const UPDATE = `npm notice
npm notice To update run: npm install -g npm@11.6.0
npm notice
`;

test.each([
  [notFound('error'), 'npm error 404 Not Found - GET https://registry.example/server-memmory'],
  [notFound('ERR!'), 'npm ERR! 404 Not Found - GET https://registry.example/server-memmory'],
  [UNREACHABLE, 'npm error FetchError: request to http://127.0.0.1:1/foo failed'],
  [NO_PROGRAM, 'npm error could not determine executable to run'],
  [`npm error code 1\n${LOG}`, 'npm error code 1'],
  [`The database is locked.\n${UPDATE}`, 'The database is locked.'],
  [`${NO_PROGRAM}The next attempt failed too.\n`, 'The next attempt failed too.'],
])('the reason of npm is what it could not do, and not where its log is: %s', (text, reason) => {
  expect(reasonIn(text)).toBe(reason);
});

/** What Node.js writes. */
const crash = (reason: string) => `/srv/server.mjs:2
throw error
^

${reason}

Node.js v24.21.0
`;
const SEVERAL = `AggregateError [ECONNREFUSED]: all failed
    at internalConnectMultiple (node:net:1122:18) {
  [errors]: [
    Error: connect ECONNREFUSED 127.0.0.1:5432
        at createConnectionError (node:net:1652:14)
  ]
}`;
const TEXT = `DATABASE_URL is not set
(Use \`node --trace-uncaught ...\` to show where the exception was thrown)`;

test.each([
  [crash('Error: no\n    at start (/srv/server.mjs:2:7)'), 'Error: no'],
  [crash(SEVERAL), 'AggregateError [ECONNREFUSED]: all failed'],
  [crash('UnhandledPromiseRejection: the reason "x". {\n  code: 1\n}'), 'UnhandledPromiseRejection: the reason "x". {'],
  [crash(TEXT), 'DATABASE_URL is not set'],
  [`Error: the cache is cold\n${crash('DatabaseFailure: no such host')}`, 'DatabaseFailure: no such host'],
  ['Node.js v24.21.0\n', 'Node.js v24.21.0'],
  [`${crash(TEXT)}started again\n`, 'started again'],
])('the reason of Node.js is the error that nothing caught, and not its version: %s', (text, reason) => {
  expect(reasonIn(text)).toBe(reason);
});
