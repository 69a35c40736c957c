// Calls of `find_tools` over the 500 tools of the tests, without a process or protocol around it.
import { readFileSync } from 'node:fs';
import { loadBundle } from '../scripts/lib/load-source.js';
import { median, printBounded } from './lib/figures.js';

/** The time of one search, in milliseconds, after the first. */
const LIMIT_MS = 5;
/** The longest query: 1,000 characters that count, of many words that many tools have. */
const LONGEST = 'list get file create issue 取引先の請求書を作成する 課題 message user update id name of the '.repeat(
  20,
);

/** Searches for each question of the tests, and the longest query. */
export async function benchFind(rounds) {
  const { SearchTools, EVERYTHING, toolsIn, questionsIn } = await loadBundle(`
    export { SearchTools } from './src/adapters/inbound/mcp/search-tools.ts';
    export { EVERYTHING } from './src/domain/gateway/call-origin.ts';
    export { toolsIn, questionsIn } from './test/support/tool-fixtures.ts';
  `);
  const read = (name) => readFileSync(new URL(`../test/fixtures/tools/${name}.txt`, import.meta.url), 'utf8');
  const tools = ['servers-1', 'servers-2', 'servers-3', 'servers-ja'].flatMap((name) => toolsIn(read(name)));
  const queries = ['questions', 'questions-2'].flatMap((name) => questionsIn(read(name)).map(({ query }) => query));

  const servers = [...new Set(tools.map(({ server }) => server))].map((name) => ({ name, tools: 1 }));
  const visible = { tools, changed: [], servers, whenStarted: async () => {} };
  const gateway = async () => ({ as: () => visible });
  const clock = { elapsedMs: () => performance.now() };
  const searchTools = new SearchTools({ gateway, clock, isAuto: false, always: [] });
  const { signal } = new AbortController();
  const find = async (query) => {
    const startedAt = performance.now();
    const { result } = await searchTools.call(
      { name: 'find_tools', args: { query }, meta: {}, by: { rights: () => EVERYTHING } },
      () => {},
      signal,
    );
    const ms = performance.now() - startedAt;
    if (result.structuredContent === undefined) throw new Error(result.content[0].text);
    return ms;
  };
  const firstMs = await find(queries[0]);
  const medianOf = async (query) => {
    const times = [];
    for (let round = 0; round < rounds; round += 1) times.push(await find(query));
    return median(times);
  };
  const ofQuestions = [];
  for (const query of queries) ofQuestions.push(await medianOf(query));
  const ofLongest = await medianOf(LONGEST);

  console.log(`\nThe first search, with the index: ${firstMs.toFixed(1)} ms`);
  return printBounded(`Find: ${tools.length} tools, ${queries.length} questions, medians of ${rounds} searches each`, [
    { what: 'all questions', value: median(ofQuestions), unit: 'ms', limit: LIMIT_MS },
    { what: 'the slowest question', value: Math.max(...ofQuestions), unit: 'ms', limit: LIMIT_MS },
    { what: 'the longest query', value: ofLongest, unit: 'ms', limit: LIMIT_MS },
  ]);
}
