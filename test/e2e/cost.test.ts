import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { apiEnv, fakeApi, ROOT } from './serve.ts';

const { date } = JSON.parse(readFileSync(`${ROOT}/config/prices.json`, 'utf8')) as { date: string };

interface Report {
  readonly usage: { readonly input_tokens: number; readonly cached_tokens: number; readonly output_tokens: number };
  readonly searches: { readonly count: number };
  readonly cost?: { readonly usd: number; readonly prices_of: string };
}

/** The cost in dollars by prices in dollars for a million tokens. */
function costOf({ usage, searches }: Report, input: number, cached: number, output: number, search: number): number {
  const uncached = usage.input_tokens - usage.cached_tokens;
  return (
    (uncached * input + usage.cached_tokens * cached + usage.output_tokens * output) / 1e6 + searches.count * search
  );
}

const yaml = (content: object) => newFile('config.yaml', JSON.stringify(content));
const PRICES = { 'gpt-5.2': { input: 100, cached_input: 10, output: 1000, search: 0.5 } };

describe('ask', () => {
  async function report(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    const api = await fakeApi();
    api.replyAlways(answers('It is sunny.', { search: true }));
    const options = { env: { ...apiEnv(api), ...env } };
    const { stdout } = await runCli(['ask', '--json', ...args, 'What is the weather?'], options);
    return (JSON.parse(stdout) as { report: Report }).report;
  }

  test('says what an answer costs by list prices', async () => {
    const found = await report();
    expect(found.cost?.prices_of).toBe(date);
    expect(found.cost?.usd).toBeCloseTo(costOf(found, 1.75, 0.175, 14, 0.01), 5);
  });

  test('says what an answer costs by prices of the configuration', async () => {
    const found = await report(['--config', yaml({ prices: PRICES })]);
    expect(found.cost?.prices_of).toBe('configuration');
    expect(found.cost?.usd).toBeCloseTo(costOf(found, 100, 10, 1000, 0.5), 5);
  });

  test('a row without cached_input and search counts input for cached tokens, and nothing for searches', async () => {
    const found = await report(['--config', yaml({ prices: { 'gpt*': { input: 100, output: 0 } } })]);
    expect(found.cost?.usd).toBeCloseTo(costOf(found, 100, 100, 0, 0), 5);
  });

  test('says nothing about the cost of a model without a price', async () => {
    expect((await report([], { MODEL_ANSWER: 'llama-4' })).cost).toBeUndefined();
  });

  test('--verbose has the cost in its line', async () => {
    const api = await fakeApi();
    api.replyAlways(answers('It is sunny.'));
    const { stderr } = await runCli(['ask', '--verbose', 'What is the weather?'], { env: apiEnv(api) });
    expect(stderr).toMatch(/ · about \$\d+\.\d{4,6}/);
  });

  test('recordings cost nothing', async () => {
    const { stdout } = await runCli(['ask', '--json', '--offline', 'What does HTTP 404 mean?']);
    expect((JSON.parse(stdout) as { report: Report }).report.cost?.usd).toBe(0);
  });

  test.each([{ input: 1 }, { input: -1, output: 1 }, { input: '1', output: 1 }, { input: 1, output: 1, price: 2 }, 3])(
    '%j is no price',
    async (price) => {
      const { stderr, code } = await runCli(['ask', '--config', yaml({ prices: { m: price } }), 'q']);
      expect(code).toBe(1);
      expect(stderr).toContain('prices.m');
    },
  );
});

describe('http.quota.usd_per_day', () => {
  const TOKENS = { ALICE: 'alice-token-0123456789', BOB: 'bob-token-0123456789ab' };

  async function serveWith(quota: object) {
    const api = await fakeApi();
    api.replyAlways(answers('It is sunny.', { search: true }));
    const audit = path.join(newFolder(), 'audit.jsonl');
    const config = yaml({
      prices: PRICES,
      audit: { file: audit },
      server: { log: 'json' },
      http: { token_env: { alice: 'ALICE', bob: 'BOB' }, quota },
    });
    const env = { ...apiEnv(api), ...TOKENS };
    const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
    const at = (place: string) => new URL(place, http.url).href;
    const headersOf = (caller: keyof typeof TOKENS) => ({ Authorization: `Bearer ${TOKENS[caller]}` });
    const ask = (caller: keyof typeof TOKENS) =>
      send(at('/mcp'), {
        headers: headersOf(caller),
        body: legacy('tools/call', { name: 'answer', arguments: { query: 'What is the weather?' } }),
      });
    const metrics = async () => (await send(at('/metrics'), { method: 'GET', headers: headersOf('BOB') })).text;
    return { api, http, ask, audit, metrics };
  }

  // S84
  test('refuses a call when the dollars are used, and counts them everywhere', async () => {
    const { api, http, ask, audit, metrics } = await serveWith({
      usd_per_day: 2,
      callers: { alice: { usd_per_day: 0.5 } },
    });
    const first = await ask('ALICE');
    const meta = JSON.stringify(first.message.result?._meta);
    const [, usd = ''] = /"cost":\{"usd":([\d.]+)/.exec(meta) ?? [];
    const used = Math.round(Number(usd) * 1e6);
    expect(used).toBeGreaterThan(500_000);
    expect(first.headers['ratelimit-policy']).toBe('"usd_per_day";q=500000;w=86400');
    expect(first.headers.ratelimit).toMatch(/^"usd_per_day";r=0;t=\d+$/);

    const refused = await ask('ALICE');
    expect(refused.status).toBe(429);
    expect(refused.text).toContain(`Daily quota reached: $${Number(usd).toFixed(2)} of $0.50. It resets at `);
    expect(refused.headers.ratelimit).toMatch(/^"usd_per_day";r=0;t=\d+$/);
    expect(api.requests).toHaveLength(1);

    const other = await ask('BOB');
    expect(other.headers.ratelimit).toMatch(new RegExp(`^"usd_per_day";r=${2_000_000 - used};t=\\d+$`));
    expect(await metrics()).toContain(`openai_responses_mcp_cost_usd_total{tool="answer"} ${(2 * used) / 1e6}`);
    expect(JSON.parse(readFileSync(audit, 'utf8').split('\n')[0] ?? '')).toMatchObject({ cost_usd: Number(usd) });
    await expect.poll(http.stderr).toContain(`"cost_usd":${usd}`);
  });

  test('needs a price for each model of a profile', async () => {
    const config = yaml({
      http: { quota: { usd_per_day: 2 } },
      model_profiles: { answer_quick: { model: 'llama-4' } },
    });
    const { stderr, code } = await runCli(['ask', '--config', config, 'q']);
    expect(code).toBe(1);
    expect(stderr).toContain('model_profiles.answer_quick.model');
    expect(stderr).toContain('llama-4');
    expect(stderr).not.toContain('gpt-5.2');
  });
});
