import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { DEFAULTS } from '../../src/adapters/outbound/config/config-tree.ts';
import { answers } from '../support/behaviours.ts';
import { posixDescribe } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { apiEnv, BUILT_PROGRAM, fakeApi, ROOT } from './serve.ts';

const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const GUIDE = read('docs', 'grounded-answers.md');
/** What `npx` would download. */
const EVERYTHING = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

posixDescribe('shell')('the commands of docs/grounded-answers.md', () => {
  test('Offline', async () => {
    const [demo, ask] = stepsOf('### Offline');
    // test/e2e/scripts.test.ts runs the demo.
    expect(demo).toEqual({ command: 'npm ci && npm run demo -- --grounded\n' });
    expect(ask?.text).toContain('Sources:');
    await follow(ask === undefined ? [] : [ask], {});
  });

  test('With the OpenAI API', async () => {
    const [step] = stepsOf('### With the OpenAI API');
    const [key, doctor, ...ask] = (step?.command ?? '').split('\n');
    expect(key).toBe('export OPENAI_API_KEY=sk-...');
    expect(doctor).toBe('openai-responses-mcp doctor --config examples/grounded.yaml');
    const api = await fakeApi();
    api.replyAlways(answers('On Tuesday.'));
    await follow([{ command: ask.join('\n'), text: 'On Tuesday.\n' }], apiEnv(api));
    expect(toolsIn(api.requests[0]?.body)).toEqual(['web_search', 'notes__search_notes']);
  });

  test('With your own server', async () => {
    const steps = stepsOf('### With your own server');
    expect(steps).toHaveLength(3);
    const api = await fakeApi();
    api.replyAlways(answers('10000.'));
    await follow(steps, apiEnv(api));
    expect(toolsIn(api.requests[0]?.body)).toEqual([
      'web_search',
      'everything__get-structured-content',
      'everything__get-sum',
    ]);
  });
});

test('the guide shows the example configuration as it is', () => {
  const [shown = ''] = blocksOf('yaml');
  const withoutComments = read('examples', 'grounded.yaml')
    .replace(/^ *#.*\n/gm, '')
    .replaceAll('\n\n', '\n');
  expect(shown).toBe(withoutComments);
});

test.for(blocksOf('yaml').map((yaml, index) => [index, yaml] as const))(
  'configuration %i of the guide is valid',
  async ([, yaml]) => {
    const names = [...yaml.matchAll(/^ {2,4}tools: \{ (\w+): /gm), ...yaml.matchAll(/^ {4}(\w+): (?:all|\[)/gm)];
    const servers = [...new Set(names.map(([, name]) => `  - { name: ${name}, command: x }\n`))].join('');
    const file = newFile('config.yaml', /^servers:/m.test(yaml) ? yaml : `servers:\n${servers}${yaml}`);
    const variables = ['GITHUB_TOKEN', 'NOTION_TOKEN', 'TOKEN_ALICE', 'TOKEN_BOB'];
    const env = Object.fromEntries(variables.map((name) => [name, `value-of-${name}-0123456789`]));
    const result = await runCli(['--show-config', '--config', file], { env, cwd: newFolder() });
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('"grounding"') });
  },
);

test('the guide names the defaults', () => {
  for (const key of ['max_rounds', 'max_calls', 'max_output_chars']) {
    const value = Number(DEFAULTS.get(`grounding.${key}`)).toLocaleString('en');
    expect(GUIDE).toMatch(new RegExp(`\`grounding\\.${key}\`, ${value}\\b`));
  }
});

test.for([['grounded-answers.md'], ['security.md']])('every local link of docs/%s leads somewhere', ([name = '']) => {
  const links = [...read('docs', name).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  expect(links.length).toBeGreaterThan(0);
  const broken = links.filter(([, file = '', anchor]) => {
    const target = file === '' ? path.join(ROOT, 'docs', name) : path.join(ROOT, 'docs', file);
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor));
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

/** A command of the guide, and its output if the guide shows it. */
interface Step {
  readonly command: string;
  readonly text?: string;
}

/** The commands of a section, each with the output that follows it. */
function stepsOf(heading: string): readonly Step[] {
  const [, rest = ''] = GUIDE.split(`\n${heading}\n`);
  const [section = ''] = rest.split(/^#{1,3} /m);
  const steps: Step[] = [];
  for (const [, language, content = ''] of section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ command: content });
    else if (language === 'text' && last !== undefined) steps[steps.length - 1] = { ...last, text: content };
  }
  return steps;
}

/** Runs the commands in a new folder, as a user would, with the built program. */
async function follow(steps: readonly Step[], variables: Readonly<Record<string, string>>): Promise<void> {
  const folder = newFolder();
  cpSync(path.join(ROOT, 'examples'), path.join(folder, 'examples'), { recursive: true });
  addCommand(folder, 'openai-responses-mcp', `exec "${process.execPath}" "${BUILT_PROGRAM}" "$@"`);
  const packageName = '-y @modelcontextprotocol/server-everything';
  addCommand(folder, 'npx', `[ "$*" = "${packageName}" ] && exec "${process.execPath}" "${EVERYTHING}"`);
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, ...variables };
  expect(steps.length).toBeGreaterThan(0);
  for (const { command, text } of steps) {
    const { stdout } = await promisify(execFile)('bash', ['-euc', command], { cwd: folder, env, timeout: 30_000 });
    if (text !== undefined) expect(stdout).toMatch(toPattern(text));
  }
}

function addCommand(folder: string, name: string, script: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(folder, name), 0o755);
}

/** A line `...` is any number of lines. */
function toPattern(text: string): RegExp {
  const literally = (line: string) => line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lines = text.trimEnd().split('\n');
  return new RegExp(`^${lines.map((line) => (line === '...' ? '(?:.*\n)*' : `${literally(line)}\n`)).join('')}$`);
}

function blocksOf(language: string): readonly string[] {
  return [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, content = '']) => content,
  );
}

/** The names of the functions, and the types of the other tools. */
function toolsIn(body: unknown): readonly (string | undefined)[] {
  const { tools = [] } = (body ?? {}) as { readonly tools?: readonly { type?: string; name?: string }[] };
  return tools.map(({ name, type }) => name ?? type);
}

/** As GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
