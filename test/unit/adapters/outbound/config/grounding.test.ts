import { expect, test } from 'vitest';
import { givenConfig } from '../../../../support/given-config.ts';

const NOTES = { name: 'notes', command: 'node' };
const DOCS = { name: 'docs', url: 'https://docs.example/mcp', public: true };

const { problemsOf: allProblemsOf, acceptedConfig } = givenConfig();

const policyOf = async (config: object) => (await acceptedConfig(config)).grounding;

async function problemsOf(config: object) {
  const found = await allProblemsOf(config);
  return found.map(({ where, value, message }) => `${where}: ${value ?? ''}: ${message}`);
}

test('the policy has defaults', async () => {
  expect(await policyOf({ servers: [NOTES, DOCS], grounding: { tools: { notes: ['find'], docs: 'all' } } })).toEqual({
    tools: { notes: ['find'], docs: 'all' },
    web: 'before',
    maxRounds: 6,
    maxCalls: 20,
    maxOutputChars: 20_000,
    callers: [],
  });
});

test('every key can be set', async () => {
  const grounding = {
    tools: { notes: 'all' },
    web: 'never',
    max_rounds: 2,
    max_calls: 3,
    max_output_chars: 1000,
    callers: ['alice', 'bob@example.com', 'oauth:auth0|5f7c'],
  };
  expect(await policyOf({ servers: [NOTES], grounding })).toEqual({
    tools: { notes: 'all' },
    web: 'never',
    maxRounds: 2,
    maxCalls: 3,
    maxOutputChars: 1000,
    callers: ['alice', 'bob@example.com', 'oauth:auth0|5f7c'],
  });
});

test.each([
  ['no tools', { grounding: { web: 'always', callers: ['alice'] } }],
  ['an empty map', { grounding: { tools: {} } }],
])('%s: no policy', async (_what, config) => {
  expect(await policyOf({ servers: [NOTES], ...config })).toBeUndefined();
});

test.each<[string, object, string]>([
  [
    'an unknown server',
    { tools: { jira: 'all' } },
    'grounding.tools: jira: expected the name of a server; the servers are notes',
  ],
  [
    'another word than all',
    { tools: { notes: 'some' } },
    'grounding.tools.notes: some: expected a list of names of tools, or all',
  ],
  [
    'a caller with another prefix',
    { callers: ['basic:alice'] },
    'grounding.callers: ["basic:alice"]: expected a list of callers',
  ],
])('%s is a problem', async (_what, grounding, problem) => {
  expect(await problemsOf({ servers: [NOTES], grounding })).toEqual([expect.stringContaining(problem)]);
});

test('a server that has a problem is not said to be missing', async () => {
  const servers = [{ ...NOTES, timeout: 0 }];
  expect(await problemsOf({ servers, grounding: { tools: { notes: 'all' } } })).toEqual([
    'servers[0].timeout: 0: expected an integer of milliseconds, 1 or greater',
  ]);
});
