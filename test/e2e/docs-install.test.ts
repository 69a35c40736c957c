import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SERVER } from '../../scripts/lib/install-links.js';
import { fencesOf } from './markdown.ts';
import { ROOT } from './serve.ts';

/** How a link, a command or an example starts the server. */
interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const DOCUMENTS = ['README.md', 'README.ja.md', 'docs/clients.md'];
const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const { name, command, args, env } = SERVER;

test('the server is started by its package, with a placeholder as key', () => {
  const { name: packageName } = JSON.parse(read('package.json')) as { name: string };
  expect([command, ...args]).toEqual(['npx', '-y', `${packageName}@latest`, '--stdio']);
  expect(env).toEqual({ OPENAI_API_KEY: 'sk-...', MODEL_PROFILES: 'tuned', MCP_TOOL_ERRORS: 'result' });
});

describe.each(DOCUMENTS)('%s', (document) => {
  const text = read(document);

  test('has a link for each client, which installs the server', () => {
    const urls = new Map([...text.matchAll(/^\[(install-[\w-]+)\]: (\S+)$/gm)].map(([, label, url]) => [label, url]));
    const links = [...text.matchAll(/\[([^\]]+)\]\[([^\]]+)\]/g)].map(([, client, label]) => [
      client,
      decoded(new URL(urls.get(label) ?? '')),
    ]);
    const plain = { name, command, args, env };
    const asking = {
      ...plain,
      type: 'stdio',
      env: { ...env, OPENAI_API_KEY: `\${input:openai-key}` },
      inputs: [{ type: 'promptString', id: 'openai-key', description: 'OpenAI API key', password: true }],
    };
    expect(Object.fromEntries(links)).toEqual({
      'VS Code': asking,
      'VS Code Insiders': { ...asking, quality: 'insiders' },
      'Visual Studio': plain,
      Cursor: plain,
      'LM Studio': plain,
      Kiro: plain,
      Goose: {
        name,
        command,
        args,
        id: name,
        description: expect.stringMatching(/^\w+( \w+)+$/),
        timeout: '330',
        env: ['OPENAI_API_KEY=OpenAI API key'],
      },
    });
    expect(JSON.stringify(links)).not.toMatch(/sk-\w/);
  });
});

test.for([
  ['README.md', 3],
  ['README.ja.md', 3],
  ['docs/clients.md', 9],
  ['llms-install.md', 2],
] as const)('%s starts the server in the same way in every command and example', ([document, atLeast]) => {
  const entries = fencesOf(read(document)).flatMap(({ language, code }) => entriesOf(language, code));
  const start = [command, ...args];
  const others = [
    ['cmd', '/c', ...start],
    ['node', expect.stringMatching(/\/build\/index\.js$/), '--stdio'],
  ];
  // Needs no key.
  const gateway = ['openai-responses-mcp', '--stdio', '--expose', '--servers', '$PWD/servers.json'];
  expect(entries.length).toBeGreaterThanOrEqual(atLeast);
  for (const { env: given, ...entry } of entries) {
    const words = [entry.command, ...entry.args];
    if (words.join(' ') === gateway.join(' ')) continue;
    if (entry.command !== command) expect(others).toContainEqual(words);
    else expect(words).toEqual(start);
    if (entry.command === command || given !== undefined) {
      expect(given).toEqual({ ...env, OPENAI_API_KEY: expect.stringMatching(/^(?:sk-\.\.\.|\$\{[\w:-]+\})$/) });
    }
  }
});

/** What a client gets from a link. Written apart from the generator, one decoder per form. */
function decoded(url: URL): unknown {
  const query = url.searchParams;
  const value = (key: string) => query.get(key) ?? '';
  switch (url.host + url.pathname) {
    case 'insiders.vscode.dev/redirect/mcp/install': {
      const { name, config, inputs, ...rest } = Object.fromEntries(query);
      return { name, ...JSON.parse(config ?? ''), inputs: JSON.parse(inputs ?? ''), ...rest };
    }
    case 'aka.ms/vs/mcp-install':
      return JSON.parse(decodeURIComponent(url.search.slice(1)));
    case 'cursor.com/en/install-mcp':
    case 'lmstudio.ai/install-mcp':
      return { name: value('name'), ...JSON.parse(atob(value('config'))) };
    case 'kiro.dev/launch/mcp/add':
      return { name: value('name'), ...JSON.parse(value('config')) };
    case 'block.github.io/goose/extension': {
      const { cmd, arg: _arg, env: _env, ...rest } = Object.fromEntries(query);
      return { command: cmd, args: query.getAll('arg'), env: query.getAll('env'), ...rest };
    }
    default:
      throw new Error(`No client is known for ${url}`);
  }
}

/** Every entry of a server in a block of code. A block that cannot be parsed fails the test. */
function entriesOf(language: string, code: string): readonly Entry[] {
  if (language === 'json') return entriesIn(JSON.parse(code));
  if (language === 'yaml') return entriesIn(parse(code));
  if (language === 'toml') return entriesIn(fromToml(code));
  return language === 'sh' ? code.split('\n').flatMap(entriesOfCommand) : [];
}

function entriesIn(value: unknown): readonly Entry[] {
  if (typeof value !== 'object' || value === null) return [];
  const { command, cmd = command, args = [], env, envs = env, environment = envs } = value as Record<string, never>;
  if (cmd === undefined) return Object.values(value).flatMap(entriesIn);
  const [first = '', ...more]: string[] = [cmd, args].flat();
  // Of the gateway's servers only those that are this one.
  if (!more.some((word) => /openai-responses|index\.js/.test(word))) return [];
  return [{ command: first, args: more, ...(environment === undefined ? {} : { env: environment }) }];
}

/** The TOML that the examples use: tables, and values on one line. */
function fromToml(code: string): unknown {
  const tables: Record<string, Record<string, unknown>> = {};
  let table: Record<string, unknown> = {};
  for (const line of code.trim().split('\n')) {
    const [, header] = /^\[([\w.-]+)\]$/.exec(line) ?? [];
    if (header !== undefined) {
      table = {};
      tables[header] = table;
      continue;
    }
    const [, key = '', value = ''] = /^(\w+) = (.+)$/.exec(line) ?? [];
    table[key] = JSON.parse(value.replaceAll(/(\w+) = (?=")/g, '"$1": '));
  }
  return tables;
}

function entriesOfCommand(line: string): readonly Entry[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, word]) => single ?? double ?? word ?? '',
  );
  if (words[1] === '--add-mcp') return entriesIn(JSON.parse(words[2] ?? ''));
  const end = words.indexOf('--');
  if (words[1] !== 'mcp' || words[2] !== 'add' || end === -1) return [];
  const isOption = (word: string | undefined) => word === '-e' || word === '--env';
  const env = Object.fromEntries(words.filter((_, index) => isOption(words[index - 1])).map((word) => word.split('=')));
  // The command of Gemini CLI is before the `--`, which is for its arguments.
  const [command = '', ...args] = words.slice(words[0] === 'gemini' ? end - 1 : end).filter((word) => word !== '--');
  return [{ command, args, env }];
}
