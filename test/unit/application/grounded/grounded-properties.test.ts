import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type { Conversation, FunctionCall, SearchRequest } from '../../../../src/application/ports/llm-search.ts';
import { never } from '../../../support/core.ts';
import { type ConfiguredCall, reports, returns, text } from '../../../support/fake-answer-gateway.ts';
import { type ConfiguredRound, searchReply } from '../../../support/fake-llm-search.ts';
import { startGrounded, tool } from '../../../support/grounding.ts';
import { runs } from '../../../support/sized.ts';

/** The secret of a private tool, by what its calls do. */
const PRIVATE: Readonly<Record<string, ConfiguredCall>> = {
  ok: returns(text('PRIVATE')),
  error: reports('PRIVATE'),
  json_rpc: async () => err({ kind: 'json_rpc', code: 1, message: 'PRIVATE' }),
  crash: async () => err({ kind: 'crashed', reason: 'PRIVATE' }),
  lost: async () => err({ kind: 'not_available', server: 'jira', state: 'failed', reason: 'PRIVATE' }),
  timeout: async () => err({ kind: 'timed_out', timeoutMs: 1 }),
  overloaded: async () => err({ kind: 'overloaded', server: 'jira', maxConcurrency: 1 }),
  invalid: async () => err({ kind: 'invalid_input', errors: [] }),
};
/** Of these, the server did not see the call. */
const NOT_SENT = ['jira/lost', 'jira/overloaded', 'jira/invalid'];
const TOOLS = [tool('docs/find'), ...Object.keys(PRIVATE).map((name) => tool(`jira/${name}`))];
const NAMES = TOOLS.map(({ server, name }) => `${server}__${name}`);

const used = fc.record({
  recipient_name: fc.constantFrom('functions.jira__ok', 'functions.docs__find', 'functions.jira__none'),
  parameters: fc.constantFrom({}, 5),
});
const call = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ name: fc.constantFrom(...NAMES), arguments: fc.constantFrom('{}', '{"a":1}', '{"a"') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constant('parallel'),
      arguments: fc.array(used, { maxLength: 6 }).map((tool_uses) => JSON.stringify({ tool_uses })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.string(), arguments: fc.string() }) },
);
const turn = fc.record({
  calls: fc.array(
    fc.tuple(call, fc.boolean()).map(([call, rare]) => ({ ...call, isIncomplete: rare && call.arguments === '{"a"' })),
    { minLength: 1, maxLength: 9 },
  ),
  searched: fc.boolean(),
  text: fc.constantFrom('', 'Two.', 'Two.\uE200cite\uE202turn0tool0\uE201'),
  fails: fc.integer({ min: 0, max: 29 }).map((number) => number === 29),
  /** Whether the model answers when it may not call. */
  obeys: fc.boolean(),
});
const policy = fc.record({
  web: fc.constantFrom('before' as const, 'always' as const, 'never' as const),
  maxRounds: fc.integer({ min: 1, max: 6 }),
  maxCalls: fc.integer({ min: 1, max: 12 }),
  maxOutputChars: fc.constantFrom(3, 20_000),
});
type ScriptedTurn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

const ANSWER: ScriptedTurn = { calls: [], searched: false, text: 'Two.', fails: false, obeys: true };

/** The turn of a round; after the script, the model answers. */
function turnOf(script: readonly ScriptedTurn[], { rounds, mayCall }: Conversation): ScriptedTurn {
  const scripted = script[rounds.length] ?? ANSWER;
  return mayCall || !scripted.obeys ? scripted : { ...scripted, calls: [], text: 'Two.' };
}

function conversationOf({ mode }: SearchRequest): Conversation {
  if (typeof mode !== 'object') throw new Error('this is not a conversation');
  return mode;
}

/** Plays a turn, with IDs that name the round. */
function play(script: readonly ScriptedTurn[]): ConfiguredRound {
  return async (_observer, _signal, request) => {
    const conversation = conversationOf(request);
    const { calls, searched, text, fails } = turnOf(script, conversation);
    if (fails) return err({ kind: 'failed', detail: 'x' });
    const round = conversation.rounds.length;
    const withIds = calls.map((call, index): FunctionCall => ({ ...call, callId: `${round}/${index}` }));
    const items = [{ id: `rs_${round}`, searched }, ...withIds.map(({ callId }) => ({ id: `fc_${callId}` }))];
    return ok(searchReply({ items, calls: withIds, text, searched }));
  };
}

/** What the next request must contain of this one. */
function expectHistory(requests: readonly Conversation[], script: readonly ScriptedTurn[]) {
  for (const [index, { rounds }] of requests.entries()) {
    expect(rounds).toHaveLength(index);
    for (const [past, { items, outputs }] of rounds.entries()) {
      const { calls = [] } = script[past] ?? ANSWER;
      const ids = calls.map((_, at) => `${past}/${at}`);
      expect(outputs.map(({ callId }) => callId)).toEqual(ids);
      expect((items as readonly { id: string }[]).map(({ id }) => id)).toEqual([
        `rs_${past}`,
        ...ids.map((id) => `fc_${id}`),
      ]);
      for (const { output } of outputs) expect(output.text).not.toBe('');
    }
  }
}

test('any conversation keeps its history, its limits and what is private', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 6 }), policy, async (script, policy) => {
      /** For each request, whether a private tool may have answered before it. */
      const isPrivate: boolean[] = [];
      const playNext: ConfiguredRound = (...args) => {
        const privateCalls = gateway.called.filter(({ tool }) => tool.startsWith('jira/') && !NOT_SENT.includes(tool));
        isPrivate.push(privateCalls.length > 0);
        return play(script)(...args);
      };
      const { search, progress, gateway, llmSearch } = startGrounded(
        Array.from({ length: policy.maxRounds }, () => playNext),
        { tools: TOOLS, replies: PRIVATE, publicServers: ['docs'] },
        { policy: { ...policy, tools: { jira: 'all', docs: 'all' } } },
      );
      // It ends: more llmSearch than rounds would be an exception.
      const outcome = await search({}, never());
      const { conversations: requests } = llmSearch;

      expectHistory(requests, script);
      for (const [index, { rounds, web }] of requests.entries()) {
        const before = isPrivate[index] ? 'closed' : 'open';
        expect(web).toBe({ before, always: 'open', never: 'absent' }[policy.web]);
        if (web === 'open' && policy.web === 'before') expect(JSON.stringify(rounds)).not.toContain('PRIVATE');
      }

      const counted = gateway.called.filter(({ tool }) => tool !== 'jira/invalid');
      expect(counted.length).toBeLessThanOrEqual(policy.maxCalls);
      expect(gateway.maxRunning).toBeLessThanOrEqual(4);
      expect(progress.filter(({ kind }) => kind === 'calling')).toHaveLength(gateway.called.length);
      expect(progress.filter(({ kind }) => kind === 'called')).toHaveLength(gateway.called.length);
      expect(requests.length).toBeLessThanOrEqual(policy.maxRounds);
      expect(requests.slice(0, -1).every(({ mayCall }) => mayCall)).toBe(true);
      if (requests.length === policy.maxRounds) expect(requests.at(-1)?.mayCall).toBe(false);

      outcome.match(
        ({ report, text, searched, own }) => {
          expect(report.rounds).toBe(requests.length);
          expect(report.toolCalls).toHaveLength(counted.length);
          expect(searched).toBe(requests.some((_, round) => script[round]?.searched === true));
          if (own?.answered.some(({ ref }) => ref === 'turn0tool0')) expect(text).not.toContain('turn0tool0');
        },
        ({ kind }) => expect(['failed', 'no_final_answer']).toContain(kind),
      );
    }),
    { numRuns: runs(700) },
  );
});

/** Each call has arguments of its own, by which it is recognized. */
test('no tool runs twice for one call, whatever fails', async () => {
  const names = fc.array(fc.constantFrom(...NAMES), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 5 }), async (script) => {
      const playNext: ConfiguredRound = async (_observer, _signal, request) => {
        const round = conversationOf(request).rounds.length;
        const calls = (script[round] ?? []).map((name, index) => {
          const callId = `${round}/${index}`;
          return { callId, name, arguments: JSON.stringify({ callId }), isIncomplete: false };
        });
        return ok(searchReply({ calls, text: 'Two.' }));
      };
      const { search, gateway } = startGrounded(
        Array.from({ length: 6 }, () => playNext),
        { tools: TOOLS, replies: PRIVATE },
        { policy: { tools: { jira: 'all', docs: 'all' } } },
      );
      await search();
      const ids = gateway.called.map(({ args }) => args.callId);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: runs(200) },
  );
});
