import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { type AccessEntry, rightsBy } from '../../../../src/domain/gateway/access.ts';
import type { GroundingPolicy } from '../../../../src/domain/grounded/grounding.ts';
import { createRedactor } from '../../../../src/domain/values/redaction.ts';
import { ask, never, startCore } from '../../../support/core.ts';
import { type ConfiguredCall, FakeAnswerGateway } from '../../../support/fake-answer-gateway.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { asks, type ConfiguredRound, calls, FakeLlmSearch, replies, says } from '../../../support/fake-llm-search.ts';
import { groundedRequest, policyOf, startGrounded, tool } from '../../../support/grounding.ts';
import { callerOf, LOCAL } from '../../../support/origins.ts';

const SEARCH = tool('jira/search');
const WRITE = tool('jira/create', { annotations: {} });
const many = (count: number) => Array.from({ length: count }, (_, index) => tool(`jira/t${index}`));

describe('the offer', () => {
  test('is that of the policy, sorted, in each request of the answer', async () => {
    const { search, llmSearch } = startGrounded([asks(calls('jira__search')), says('Two.')], {
      tools: [tool('jira/x'), SEARCH, WRITE],
    });
    await search();
    for (const { functions } of llmSearch.conversations)
      expect(functions.map(({ name }) => name)).toEqual(['jira__search', 'jira__x']);
    expect(llmSearch.conversations).toHaveLength(2);
  });

  test('has at most 127 functions; a notice names those that are left out, once', async () => {
    const { search, logger, llmSearch } = startGrounded([says('One.'), says('Two.')], { tools: many(128) });
    for (const _ of [1, 2]) expect((await search()).isOk()).toBe(true);
    expect(llmSearch.conversations.map(({ functions }) => functions.length)).toEqual([127, 127]);
    const notices = logger.lines.filter((line) => line.includes('the API accepts 127 tools'));
    expect(notices).toEqual([expect.stringMatching(/not offered: \w+\. /)]);
  });

  test('is made again for each answer', async () => {
    const { search, llmSearch, gateway } = startGrounded([says('One.'), says('Two.')], { tools: [SEARCH] });
    await search();
    gateway.options = { tools: [tool('jira/other')] };
    await search();
    expect(llmSearch.conversations.map(({ functions }) => functions.map(({ name }) => name))).toEqual([
      ['jira__search'],
      ['jira__other'],
    ]);
  });

  test('warns once of a tool that does not exist, and of a schema that is too large', async () => {
    const large = tool('jira/large', { inputSchema: { description: 'x'.repeat(70_000) } });
    const { search, logger } = startGrounded(
      [says('One.'), says('Two.')],
      { tools: [SEARCH, large] },
      { policy: { tools: { jira: ['search', 'large', 'typo'] } } },
    );
    await search();
    await search();
    expect(logger.lines).toEqual([
      'warn grounding: the schema of jira/large is too large; the tool is not offered',
      'warn grounding: there is no tool jira/typo (grounding.tools)',
    ]);
  });
});

describe('servers', () => {
  test('have at most 10 s to start, and only those of the policy are asked', async () => {
    const { search, gateway } = startGrounded(
      [says('Two.')],
      { tools: [SEARCH] },
      { policy: { tools: { jira: 'all', wiki: ['get'] } } },
    );
    await search();
    expect(gateway.waits).toEqual([{ servers: ['jira', 'wiki'], maxMs: 10_000 }]);
  });

  test('that require a login are named as such, in the order of the policy', async () => {
    const tools = { jira: 'all', wiki: 'all', notes: 'all' } as const;
    const { search, gateway, llmSearch } = startGrounded(
      [says('Two.'), says('Three.')],
      { tools: [SEARCH], unavailable: ['notes', 'wiki'], state: 'login_required' },
      { policy: { tools } },
    );
    const { report } = (await search())._unsafeUnwrap();
    expect(report).toMatchObject({ unavailableServers: ['wiki', 'notes'], loginRequired: ['wiki', 'notes'] });
    expect(llmSearch.conversations[0]?.functions.map(({ name }) => name)).toEqual(['jira__search']);
    gateway.options = { tools: [SEARCH], unavailable: ['notes', 'wiki'] };
    expect((await search())._unsafeUnwrap().report).not.toHaveProperty('loginRequired');
  });

  test('whose login ends during the answer are named too', async () => {
    const { search, gateway } = startGrounded(
      [asks(calls('jira__search')), says('I do not know.')],
      { tools: [SEARCH], unavailable: ['wiki'] },
      { policy: { tools: { jira: 'all', wiki: 'all' } } },
    );
    const refuse: ConfiguredCall = async () => {
      gateway.options = { unavailable: ['jira'], state: 'login_required' };
      return err({ kind: 'login_required', server: 'jira' });
    };
    gateway.options = { ...gateway.options, replies: { search: refuse } };
    const { text, report } = (await search())._unsafeUnwrap();
    expect(text).toBe('I do not know.');
    expect(report).toMatchObject({ unavailableServers: ['jira', 'wiki'], loginRequired: ['jira'] });
  });

  test('if none is available, the question is asked as without own tools', async () => {
    const { search, llmSearch } = startGrounded([replies({ text: 'From the web.' })], { unavailable: ['jira'] });
    const reply = (await search())._unsafeUnwrap();
    expect(reply).toMatchObject({ text: 'From the web.', report: { unavailableServers: ['jira'] } });
    expect(llmSearch.requests).toEqual([groundedRequest()]);
  });

  test('if none is available, `never` still closes the web', async () => {
    const { search, llmSearch } = startGrounded(
      [says('I do not know.')],
      { unavailable: ['jira'] },
      { policy: { web: 'never' } },
    );
    const reply = (await search())._unsafeUnwrap();
    expect(reply).toMatchObject({ text: 'I do not know.', report: { unavailableServers: ['jira'] } });
    expect(llmSearch.conversations).toMatchObject([{ web: 'absent', functions: [], mayCall: false }]);
  });
});

describe('without time for a call', () => {
  const TOO_LITTLE = { deadlineMs: 14_999 };

  test('no server is started, and no function is offered', async () => {
    const { search, gateway, llmSearch } = startGrounded([replies()], { tools: [SEARCH] });
    const reply = (await search(TOO_LITTLE))._unsafeUnwrap();
    expect(reply.report).not.toHaveProperty('unavailableServers');
    expect(gateway.waits).toEqual([]);
    expect(llmSearch.requests).toHaveLength(1);
  });

  test('after the starts of servers, no function is offered either', async () => {
    const clock = new FakeClock();
    const { search, gateway, llmSearch } = startGrounded(
      [replies()],
      { tools: [SEARCH], onWait: () => clock.advance(5001) },
      { clock },
    );
    await search({ deadlineMs: 20_000 });
    expect(gateway.waits).toEqual([{ servers: ['jira'], maxMs: 5000 }]);
    expect(llmSearch.requests).toHaveLength(1);
  });
});

describe('callers', () => {
  const webOrTwo: ConfiguredRound = (observer, signal, { mode }) =>
    says(mode === 'web' ? 'From the web.' : 'Two.')(observer, signal);
  const start = (policy: Partial<GroundingPolicy>) =>
    startGrounded([webOrTwo, webOrTwo], { tools: [SEARCH] }, { policy });

  // S75
  test('over HTTP get no own tools by default, and no server starts for them', async () => {
    const { searchFor, gateway } = start({ web: 'never' });
    expect((await searchFor('team'))._unsafeUnwrap().text).toBe('From the web.');
    expect(gateway.waits).toEqual([]);
  });

  test('over HTTP get own tools if they are named', async () => {
    const { searchFor, llmSearch } = start({ callers: ['team'] });
    expect((await searchFor('other'))._unsafeUnwrap().text).toBe('From the web.');
    expect((await searchFor('team'))._unsafeUnwrap().text).toBe('Two.');
    expect(llmSearch.conversations).toHaveLength(1);
  });
});

describe('what a caller may not use', () => {
  const by = (servers: AccessEntry['servers']) => {
    const rights = rightsBy({ team: { ...(servers && { servers }), answers: true } })({ caller: 'team' });
    return callerOf('team', { rights });
  };
  const start = () =>
    startGrounded(
      [says('Two.'), says('Two.')],
      { tools: [SEARCH, WRITE, tool('wiki/search')], unavailable: ['wiki'] },
      { policy: { callers: ['team'], tools: { jira: ['search', 'create'], wiki: 'all' } } },
    );

  test('is not offered, and its server is neither waited for nor named', async () => {
    const { search, llmSearch, gateway } = start();
    const { report } = (await search({ by: by({ jira: ['sea*'] }) }))._unsafeUnwrap();
    expect(llmSearch.conversations[0]?.functions.map(({ name }) => name)).toEqual(['jira__search']);
    expect(gateway.waits.map(({ servers }) => servers)).toEqual([['jira']]);
    expect(report).not.toHaveProperty('unavailableServers');
  });

  test('leaves the request as it is without grounding if nothing remains', async () => {
    const { search, llmSearch, gateway } = start();
    await search({ by: by({ other: 'all' }) });
    await search({ by: by({ jira: ['nothing'] }) });
    expect(llmSearch.conversations).toEqual([]);
    expect(gateway.waits).toHaveLength(1);
  });

  test('is not missed in the log, and makes no question one that may use tools', async () => {
    const { search, logger, grounded } = start();
    await search({ by: by({ wiki: 'all' }) });
    expect(logger.lines.join()).not.toContain('jira');
    const may = (servers: AccessEntry['servers']) => grounded.mayUseTools(groundedRequest({ by: by(servers) }));
    expect([may({ wiki: 'all' }), may({ other: 'all' })]).toEqual([true, false]);
  });
});

test.each<[string, boolean, number]>([
  ['that may use own tools do not share a search', true, 2],
  ['of callers without own tools share a search', false, 1],
])('identical questions %s', async (_, mayUse, searches) => {
  const llmSearch = new FakeLlmSearch(says('Two.'), says('Two.'));
  const startGateway = async () => new FakeAnswerGateway({ tools: [SEARCH] });
  const grounding = { policy: policyOf(), startGateway, messageFor: () => '', redactor: createRedactor() };
  const { application } = startCore({ llmSearch, grounding });
  const question = mayUse ? ask({ by: LOCAL }) : ask();
  await Promise.all([1, 2].map(() => application.answerQuery.execute(question, never())));
  expect(llmSearch.requests).toHaveLength(searches);
});

test('a cancellation during the starts of servers ends the answer at once', async () => {
  const { search } = startGrounded([], { onWait: () => new Promise(() => {}) });
  const controller = new AbortController();
  const outcome = search({}, controller.signal);
  await settled();
  controller.abort();
  expect((await outcome)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
});
