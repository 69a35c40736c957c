import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hashOfToken } from '../../../../../src/adapters/outbound/config/http-config.ts';
import { profileFor } from '../../../../../src/domain/answers/model-profile.ts';
import { TOOL_NAMES } from '../../../../../src/domain/answers/question.ts';
import { SYSTEM_POLICY } from '../../../../../src/domain/answers/system-policy.ts';
import { givenConfig } from '../../../../support/given-config.ts';

type Variables = Readonly<Record<string, string>>;
const given = givenConfig();
const config = (environment: Variables, yaml?: string) => given.acceptedConfig(yaml, environment);
const problems = (environment: Variables, yaml?: string) => given.problemsOf(yaml, environment);

describe('the preset', () => {
  const TUNED = {
    answer_detailed: { reasoningEffort: 'high', verbosity: 'high', searchContextSize: 'high', maxToolCalls: 30 },
    answer_quick: { reasoningEffort: 'low', verbosity: 'low', searchContextSize: 'low', maxToolCalls: 3 },
  };

  async function profiles(environment: Readonly<Record<string, string>>, yaml?: string) {
    const { profiles } = await config(environment, yaml);
    return Object.fromEntries(TOOL_NAMES.map((tool) => [tool, profileFor(tool, profiles)]));
  }

  test.each([
    ['the variable', { MODEL_PROFILES: 'tuned' }, undefined],
    ['YAML', {}, 'model_profiles: { preset: tuned }'],
  ])('is enabled by %s, and never changes a model', async (_name, environment, yaml) => {
    expect(await profiles(environment, yaml)).toMatchObject({
      answer: { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'medium' },
      answer_detailed: { model: 'gpt-5.2', ...TUNED.answer_detailed },
      answer_quick: { model: 'gpt-5.2', ...TUNED.answer_quick },
    });
    const withModel = { ...environment, MODEL_ANSWER: 'gpt-6' };
    expect(await profiles(withModel, yaml)).toMatchObject({
      answer_detailed: { model: 'gpt-6' },
      answer_quick: { model: 'gpt-6', ...TUNED.answer_quick },
    });
  });

  test('is overridden by explicit keys of the same tool', async () => {
    const yaml =
      'model_profiles: { preset: tuned, answer_quick: { model: gpt-5-mini, verbosity: medium, max_tool_calls: 9 } }';
    expect((await profiles({}, yaml)).answer_quick).toMatchObject({
      model: 'gpt-5-mini',
      reasoningEffort: 'low',
      verbosity: 'medium',
      searchContextSize: 'low',
      maxToolCalls: 9,
    });
  });

  test('is not overridden by variables of answer', async () => {
    const variables = { MODEL_PROFILES: 'tuned', ANSWER_EFFORT: 'xhigh', ANSWER_VERBOSITY: 'medium' };
    expect(await profiles(variables)).toMatchObject({
      answer: { reasoningEffort: 'xhigh', verbosity: 'medium' },
      ...TUNED,
    });
  });

  test('has no effect unless it is enabled', async () => {
    const { answer, answer_detailed, answer_quick } = await profiles({});
    expect([answer_detailed, answer_quick]).toEqual([answer, answer]);
  });
});

describe('TIME_ZONE', () => {
  test.each(['America/Argentina/Buenos_Aires', 'UTC'])('%s', async (zone) => {
    expect((await config({ TIME_ZONE: zone })).timeZone).toBe(zone);
  });

  test('system is the zone of this machine', async () => {
    const { timeZone } = await config({ TIME_ZONE: 'system' });
    expect(timeZone).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
    expect(timeZone).not.toBe('system');
  });

  test('the default is Asia/Tokyo', async () => {
    expect((await config({})).timeZone).toBe('Asia/Tokyo');
  });

  test.each(['Mars/Olympus', '+09:00', 'Europe/Berlin; x'])('%s is a problem', async (zone) => {
    expect(await problems({ TIME_ZONE: zone })).toEqual([
      { where: 'TIME_ZONE', value: zone, message: 'expected an IANA time zone, such as Europe/Berlin, or system' },
    ]);
  });

  test('a policy file is combined with the built-in policy in this zone', async () => {
    writeFileSync(given.at('policy.md'), 'Be brief. Our office is in Asia/Tokyo.');
    const yaml = 'policy: { system: { source: file, path: policy.md, merge: append } }';
    const { instructions = '' } = await config({ TIME_ZONE: 'Europe/Berlin' }, yaml);
    expect(instructions).toContain('Our office is in Asia/Tokyo.');
    expect(instructions).toContain(SYSTEM_POLICY.replaceAll('Asia/Tokyo', 'Europe/Berlin'));
  });
});

describe('MCP_HTTP_TOKEN', () => {
  const TOKEN = 'token-itself-0123456789';

  async function tokens(environment: Readonly<Record<string, string>>, listen = '') {
    const loaded = await given.load(undefined, environment, { '--http': listen });
    return 'value' in loaded ? loaded.value.http?.tokens : loaded.problems;
  }

  test('is enough for an address that other machines can reach', async () => {
    expect(await tokens({ MCP_HTTP_TOKEN: TOKEN }, '0.0.0.0:0')).toHaveLength(1);
    expect(await tokens({}, '0.0.0.0:0')).toEqual([
      expect.objectContaining({ message: expect.stringContaining('set MCP_HTTP_TOKEN to the token') }),
    ]);
  });

  test('is the token of another caller beside named ones', async () => {
    const named = { MCP_HTTP_TOKEN_ENV: 'alice=A', A: 'token-of-alice' };
    expect(await tokens({ ...named, MCP_HTTP_TOKEN: TOKEN })).toEqual([
      { caller: 'alice', hash: hashOfToken('token-of-alice') },
      { caller: 'default', hash: hashOfToken(TOKEN) },
    ]);
  });

  test('that cannot be sent is a problem, and is not shown', async () => {
    const found = await tokens({ MCP_HTTP_TOKEN: 'two words' });
    expect(found).toMatchObject([{ where: 'MCP_HTTP_TOKEN' }]);
    expect(JSON.stringify(found)).not.toContain('two words');
  });
});
