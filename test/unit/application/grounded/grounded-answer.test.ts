import { describe, expect, test } from 'vitest';
import type { GroundingPolicy } from '../../../../src/domain/grounded/grounding.ts';
import {
  type ConfiguredCall,
  callFails,
  reports,
  result,
  returns,
  text,
} from '../../../support/fake-answer-gateway.ts';
import { asks, asksWith, type ConfiguredRound, calls, says } from '../../../support/fake-llm-search.ts';
import { startGrounded, tool } from '../../../support/grounding.ts';

const TOOLS = [tool('jira/get'), tool('docs/find')];
const POLICY: Partial<GroundingPolicy> = {
  tools: { jira: 'all', docs: 'all' },
  callers: ['team'],
};
const GET = calls('jira__get');
const FIND = calls('docs__find');
const marker = (ref: string) => `\uE200cite\uE202${ref}\uE201`;

function start(
  rounds: readonly ConfiguredRound[],
  replies: Readonly<Record<string, ConfiguredCall>> = {},
  policy = {},
  publicServers = ['docs'],
) {
  return startGrounded(rounds, { tools: TOOLS, replies, publicServers }, { policy: { ...POLICY, ...policy } });
}

describe('the web', () => {
  async function states(policy: Partial<GroundingPolicy>, get?: ConfiguredCall, publicServers = ['docs']) {
    const rounds = [asks(FIND), asks(GET), asks(FIND), says('Two.')];
    const { search, llmSearch } = start(rounds, get && { get }, policy, publicServers);
    await search();
    return llmSearch.conversations.map(({ web }) => web);
  }

  // S72
  test('is open until a private tool has answered, with `before`', async () => {
    expect(await states({ web: 'before' })).toEqual(['open', 'open', 'closed', 'closed']);
  });

  test('is closed by an error that a private tool reports, and not by a call that was never sent', async () => {
    expect(await states({}, reports('no'))).toEqual(['open', 'open', 'closed', 'closed']);
    const notSent = callFails({ kind: 'invalid_input', errors: [] });
    expect(await states({}, notSent)).toEqual(Array(4).fill('open'));
  });

  test('is closed at once if a server becomes private during the answer', async () => {
    const publicServers = ['docs'];
    const find: ConfiguredCall = (...call) => {
      if (llmSearch.conversations.length === 2) publicServers.pop();
      return returns(text('x'))(...call);
    };
    const { search, llmSearch } = start([asks(FIND), asks(FIND), says('Two.')], { find }, {}, publicServers);
    await search();
    expect(llmSearch.conversations.map(({ web }) => web)).toEqual(['open', 'open', 'closed']);
  });

  test.each([true, false])(
    'is known to the answer as %s, if the server that answered is private or public',
    async (isPrivate) => {
      const servers = isPrivate ? ['docs'] : ['jira', 'docs'];
      const { search } = start([asks(GET), says('Two.')], {}, { web: 'always' }, servers);
      const reply = (await search())._unsafeUnwrap();
      expect(reply.own?.hasPrivateOutput).toBe(isPrivate);
    },
  );
});

describe('the reply', () => {
  const page = result({ structuredContent: { results: [{ url: 'https://own.com/1', title: 'One' }] } });
  const file = result({ content: [{ type: 'resource_link', uri: 'file:///home/me/a.txt', name: '/home/me/a.txt' }] });

  test('has the text of the last round, with links in place of the markers', async () => {
    const last = says(`Two.${marker('turn0tool0')} And more.${marker('turn9tool9')}`);
    const { search } = start([asksWith({ text: 'Let me look.' }, GET), last], { get: returns(page) });
    const reply = (await search())._unsafeUnwrap();
    expect(reply.text).toBe(`Two. ([One](https://own.com/1)) And more.${marker('turn9tool9')}`);
    expect(reply.own?.marked).toMatchObject([{ url: 'https://own.com/1' }]);
    expect(reply.own?.answered).toHaveLength(1);
  });

  test('has a marker for each source of each call, which the model has seen', async () => {
    const rounds = [asks(GET), asks(FIND, { ...GET, callId: '2' }), says('Two.')];
    const { search, llmSearch } = start(rounds, { get: returns(page), find: returns(text('x')) });
    const refs = (await search())._unsafeUnwrap().own?.answered.map(({ ref }) => ref);
    expect(refs).toEqual(['turn0tool0', 'turn1tool0', 'turn2tool0']);
    const outputs = llmSearch.conversations[2]?.rounds
      .flatMap(({ outputs }) => outputs.map(({ output }) => output.text))
      .join();
    for (const ref of refs ?? []) expect(outputs).toContain(`Citation Marker: ${marker(ref)}`);
  });

  test('has the citations and sources of all rounds', async () => {
    const sources = (id: number) => ({
      cited: [{ url: `https://cited.com/${id}` }],
      consulted: [`https://consulted.com/${id}`],
      opened: [`https://opened.com/${id}`],
    });
    const first = asksWith({ text: 'Let me look.', searched: true, sources: sources(1) }, GET);
    const { search } = start([first, says('Two.', { sources: sources(2) })]);
    expect((await search())._unsafeUnwrap()).toMatchObject({
      searched: true,
      sources: {
        cited: [{ url: 'https://cited.com/1' }, { url: 'https://cited.com/2' }],
        consulted: ['https://consulted.com/1', 'https://consulted.com/2'],
        opened: ['https://opened.com/1', 'https://opened.com/2'],
      },
    });
  });

  test('names paths of this machine only to its user', async () => {
    const rounds = [asks(GET), says(`See file:///home/me/a.txt.${marker('turn0tool0')}`)];
    const local = (await start(rounds, { get: returns(file) }).search())._unsafeUnwrap();
    expect(local.text).toBe('See file:///home/me/a.txt. [jira/get]');
    expect(local.own?.marked).toMatchObject([{ url: 'file:///home/me/a.txt', title: '/home/me/a.txt' }]);

    const { searchFor, llmSearch } = start(rounds, { get: returns(file) });
    const remote = (await searchFor('team'))._unsafeUnwrap();
    expect(remote.text).toBe('See jira/get. [jira/get]');
    expect(JSON.stringify(remote)).not.toContain('/home/me');
    expect(llmSearch.conversations[1]?.rounds[0]?.outputs[0]?.output.text.split('\n')[1]).toBe(
      `Citation Marker: ${marker('turn0tool0')} | jira/get`,
    );
  });
});

describe('the report', () => {
  test('sums usage and searches over all rounds', async () => {
    const usage = (tokens: number) => {
      return { inputTokens: tokens, cachedTokens: tokens + 1, outputTokens: tokens + 2, reasoningTokens: tokens + 3 };
    };
    const first = { model: 'm', responseId: '1', usage: usage(10), queries: ['a'], searches: 1, attempts: 2 };
    const last = { model: 'm', responseId: '3', usage: usage(20), queries: ['b', 'c'], searches: 2, attempts: 1 };
    const { search } = start([asksWith({ report: first }, GET), asks(FIND), says('Two.', { report: last })]);
    expect((await search())._unsafeUnwrap().report).toEqual({
      model: 'm',
      responseId: '3',
      usage: { inputTokens: 30, cachedTokens: 32, outputTokens: 34, reasoningTokens: 36 },
      queries: ['a', 'b', 'c'],
      searches: 3,
      attempts: 4,
      rounds: 3,
      toolCalls: [
        { server: 'jira', tool: 'get', ms: 0, ok: true },
        { server: 'docs', tool: 'find', ms: 0, ok: true },
      ],
    });
  });

  test('is progress during the answer: each call, and each later round', async () => {
    const { search, progress } = start([asks(GET), asks(FIND), says('Two.')]);
    await search();
    expect(progress.map((step) => [step.kind, 'round' in step ? step.round : undefined])).toEqual([
      ['calling', undefined],
      ['called', undefined],
      ['asking', 2],
      ['calling', undefined],
      ['called', undefined],
      ['asking', 3],
    ]);
  });
});
