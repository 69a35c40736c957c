import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GatewayTool } from '../../../../src/domain/gateway/gateway-tool.ts';
import { findTools } from '../../../../src/domain/gateway/tool-search.ts';
import { anyCharacter } from '../../../support/any-text.ts';

const read = (name: string) => readFileSync(new URL(`../../../fixtures/tools/${name}.txt`, import.meta.url), 'utf8');
const TOOLS = ['servers-1', 'servers-2', 'servers-3', 'servers-ja'].flatMap((name) => toolsIn(read(name)));

/** The tools of a text in the format that `test/fixtures/tools/servers-1.txt` describes. */
function toolsIn(text: string): GatewayTool[] {
  const tools: GatewayTool[] = [];
  let [server, shared] = ['', new Map<string, string>()];
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) [server, shared] = [line.slice(3), new Map()];
    else if (line.startsWith('@')) shared.set(line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1));
    else if (line !== '' && !line.startsWith('#')) {
      const [name = '', title = '', description = '', ...rest] = line.split('|').map((part) => part.trim());
      const parameters = rest
        .join('|')
        .split('; ')
        .flatMap((part) => (shared.get(part) ?? part).split('; '));
      const properties = Object.fromEntries(
        parameters
          .filter((part) => part !== '')
          .map((part) => {
            const [path = '', description = ''] = part.split(/: (.*)/);
            return [path, { type: 'string', description }];
          }),
      );
      tools.push({ server, name, title, description, inputSchema: { type: 'object', properties } });
    }
  }
  return tools;
}

const tool = (name: string, more: Partial<GatewayTool> = {}): GatewayTool => {
  return { server: 's', name, description: '', inputSchema: { type: 'object' }, ...more };
};
const found = (tools: readonly GatewayTool[], query: string) => findTools(tools, query).map(({ name }) => name);
const nested = (inner: object) => ({
  anyOf: [{ type: 'array', items: { type: 'object', properties: { outer: { properties: { inner } } } } }],
});

describe('the right tool among the first five of 500', () => {
  /** How many questions a file has, and those without one. A line has a query, ` | `, and the right tools. */
  const hits = (file: string) => {
    const questions = read(file)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(' | '));
    const missed = questions.filter(([query = '', right = '']) => {
      const first = findTools(TOOLS, query).slice(0, 5);
      return !first.some(({ server, name }) => right.split(', ').includes(`${server}/${name}`));
    });
    return { of: questions.length, missed: missed.map(([query]) => query) };
  };

  test('is 36 of 40, of which 11 of 12 are Japanese', () => {
    expect(hits('questions')).toEqual({
      of: 40,
      missed: [
        'which pods are crashing',
        'give a customer their money back',
        'log the hours I worked on a Jira issue',
        '取引先の担当者の名刺を探す',
      ],
    });
  });

  test('is 19 of 20 of the questions that were not used to adjust the ranking', () => {
    expect(hits('questions-2')).toEqual({ of: 20, missed: ['大阪の空いているホテルを探す'] });
  });
});

describe('words', () => {
  test.each([
    ['camelCase', 'createPullRequest', 'pull'],
    ['a compound as one word', 'GitHub', 'github'],
    ['a compound in the query', 'oncall', 'on-call'],
    ['full-width letters', 'ｐｕｌｌ', 'pull'],
    ['half-width katakana', 'メール', 'ﾒｰﾙ'],
    ['a plural', 'invoices', 'an invoice'],
    ['other forms of a verb', 'merge', 'merging merged'],
    ['Japanese', '請求書を作成', '請求書'],
    ['Korean', '송장생성', '송장'],
    ['a single character within others', '請求書', '書'],
    ['a name of digits', 's3_upload', 'S3'],
  ])('finds %s', (_, name, query) => {
    expect(found([tool('zzz'), tool(name)], query)).toEqual([name]);
  });

  test('are looked for in server, title, description and parameters at any depth', () => {
    const tools = [
      tool('a', { server: 'ledger' }),
      tool('b', { title: 'Ledger' }),
      tool('c', { description: 'The ledger.' }),
      tool('d', { inputSchema: nested({ properties: { ledger: {} } }) }),
      tool('e', { inputSchema: nested({ description: 'A ledger' }) }),
      tool('f', { inputSchema: { properties: { description: { description: 'Its ledger' } } } }),
      tool('g', { inputSchema: { properties: { x: { default: { description: 'ledger' }, enum: ['ledger'] } } } }),
      tool('h', { inputSchema: { properties: { properties: { description: 'ledger' } } } }),
    ];
    expect(found(tools, 'ledger').toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'h']);
  });

  test('count more in a name than in a parameter, and if fewer tools have them', () => {
    const ofParameter = tool('a', { inputSchema: { properties: { invoice: {} } } });
    const ofName = tool('invoice', { inputSchema: { properties: { a: {} } } });
    expect(found([ofParameter, ofName], 'invoice')).toEqual(['invoice', 'a']);
    const tools = [tool('send_mail'), tool('send_fax'), tool('send_invoice'), tool('print_report')];
    expect(found(tools, 'send a report')[0]).toBe('print_report');
  });

  test('that nearly every tool has do not match alone beside others, and do if there are no others', () => {
    const tools = [tool('list_users'), tool('list_files')];
    expect(found(tools, 'list the files')).toEqual(['list_files']);
    expect(found(tools, 'list')).toEqual(['list_users', 'list_files']);
    expect(findTools(TOOLS, 'get the list of pods').length).toBeLessThan(20);
  });

  test('of a query are those of its first 1,000 characters', () => {
    expect(found([tool('a_word')], `${' '.repeat(996)}word`)).toEqual(['a_word']);
    expect(found([tool('a_word')], `${' '.repeat(997)}word`)).toEqual([]);
  });

  test.each(['?!', '\uD800', 'xyzzy'])('without a match, there is no tool: %j', (query) => {
    expect(findTools(TOOLS, query)).toEqual([]);
    expect(findTools([], query)).toEqual([]);
  });
});

describe('laws', () => {
  const words = ['file', 'open', 'list', 'user', '請求', '作成する', 'CamelCase', 'a'];
  const text = fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((parts) => parts.join(' '));
  const tools = fc
    .array(fc.record({ name: text, title: text, description: text, parameter: text }), { maxLength: 12 })
    .map((list) =>
      list.map(({ parameter, ...more }, at) =>
        tool(more.name, { ...more, server: `s${at}`, inputSchema: { properties: { x: { description: parameter } } } }),
      ),
    );

  test('no query and no schema is an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.jsonValue(), (query, schema) => {
        const odd = tool('odd', { description: query, inputSchema: { properties: schema } });
        findTools([odd, ...TOOLS.slice(0, 5)], query);
      }),
    );
  });

  test('another order of the tools changes only the order of those that are equally good', () => {
    const twoOrders = tools.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(twoOrders, text, ([tools, shuffled], query) => {
        const [ours, theirs] = [findTools(tools, query), findTools(shuffled, query)];
        expect(new Set(theirs)).toEqual(new Set(ours));
        for (const [at, first] of ours.entries()) {
          for (const second of ours.slice(at + 1)) {
            if (theirs.indexOf(first) < theirs.indexOf(second)) continue;
            // They are equal, so that both results have them in the order of their tools.
            expect(tools.indexOf(first)).toBeLessThan(tools.indexOf(second));
            expect(shuffled.indexOf(first)).toBeGreaterThan(shuffled.indexOf(second));
          }
        }
      }),
    );
  });

  test('a tool that is found has a word of the query', () => {
    fc.assert(
      fc.property(tools, text, (tools, query) => {
        for (const found of findTools(tools, query)) {
          const texts = JSON.stringify(found).toLowerCase();
          const parts = query.toLowerCase().match(/[a-z]+|請求|作成/g) ?? [];
          expect(parts.some((part) => texts.includes(part === 'camelcase' ? 'camel' : part))).toBe(true);
        }
      }),
    );
  });

  test('equal tools keep the order of the configuration', () => {
    const same = Array.from({ length: 20 }, (_, at) => tool('open', { title: `${at % 2}` }));
    expect(findTools(same, 'open')).toEqual(same);
  });

  test('of a description, 4,000 characters count', () => {
    expect(found([tool('a', { description: `${'x '.repeat(1_997)}ledger` })], 'ledger')).toEqual(['a']);
    expect(found([tool('a', { description: `${'x '.repeat(2_000)}ledger` })], 'ledger')).toEqual([]);
  });

  test('of a schema, a few thousand parts are read, the first level first', () => {
    let reads = 0;
    const part = (more: object) => Object.defineProperty({ ...more }, 'type', { enumerable: true, get: () => ++reads });
    const many = Array.from({ length: 100_000 }, () => part({}));
    const deep = many.reduce<object>((inner) => part({ properties: { x: inner } }), {});
    for (const schema of [deep, { anyOf: many }, { properties: { ...many } }, { description: 'aA_'.repeat(100_000) }]) {
      const inputSchema = { properties: { schema, ledger: { description: 'Its book' } } };
      expect(found([tool('a', { inputSchema })], 'ledger')).toEqual(['a']);
    }
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(15_000);
  });
});
