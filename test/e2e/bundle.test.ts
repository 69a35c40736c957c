import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { unpackExtension } from '@anthropic-ai/mcpb';
import { Ajv, addFormats } from '@modelcontextprotocol/client/validators/ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { API_KEY, answerOf, apiEnv, fakeApi, ROOT, serve } from './serve.ts';

interface Manifest {
  readonly version: string;
  readonly server: {
    readonly entry_point: string;
    readonly mcp_config: {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };
  };
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly user_config: Readonly<Record<string, { readonly default?: string; readonly required: boolean }>>;
}

const json = <T>(file: string) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;
const manifest = json<Manifest>('deploy/mcpb/manifest.json');
const { mcp_config: start } = manifest.server;

describe('the manifest of the bundle', () => {
  test('is valid', () => {
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    const isValid = ajv.compile(json<Record<string, unknown>>('test/fixtures/schemas/mcpb-manifest-0.3.schema.json'));
    isValid(manifest);
    expect(isValid.errors).toBe(null);
    expect(isValid({ ...manifest, unknown: true })).toBe(false);
  });

  test('leaves no placeholder in the environment: every entry that is used is required or has a default', () => {
    const used = Object.values(start.env).flatMap((value) => /^\$\{user_config\.(\w+)\}$/.exec(value)?.[1] ?? []);
    expect(used.toSorted()).toEqual(Object.keys(manifest.user_config).toSorted());
    const unset = used.filter((name) => {
      const entry = manifest.user_config[name];
      return entry?.required !== true && entry?.default === undefined;
    });
    expect(unset).toEqual([]);
  });

  test('ends a call before Claude Desktop does, after about 4 minutes', () => {
    expect(Number(start.env.OPENAI_API_TIMEOUT)).toBeLessThan(240_000);
  });
});

describe('the bundle, unpacked into a folder with blanks', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-bundle-'));
  const folder = path.join(root, 'Application Support', 'ü');
  const file = path.join(root, 'bundle.mcpb');
  let stdout = '';

  beforeAll(async () => {
    ({ stdout } = await promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts', 'bundle.js'), file]));
    mkdirSync(folder, { recursive: true });
    expect(await unpackExtension({ mcpbPath: file, outputDir: folder, silent: true })).toBe(true);
    return () => rmSync(root, { recursive: true, force: true });
  });

  /** Starts it as Claude Desktop does. */
  function startBundle(env: Readonly<Record<string, string>>) {
    const given: Readonly<Record<string, string>> = { api_key: API_KEY };
    const filled = (text: string) =>
      text
        .replaceAll(`\${__dirname}`, folder)
        .replace(/\$\{user_config\.(\w+)\}/g, (_, name) => given[name] ?? manifest.user_config[name]?.default ?? '');
    const [program = '', ...args] = start.args.map(filled);
    const settings = Object.fromEntries(Object.entries(start.env).map(([name, value]) => [name, filled(value)]));
    return serve({ program, args, env: { ...settings, ...env } });
  }

  test('has the SHA-256 that was printed, and contains what it needs', () => {
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(`${hash}  bundle.mcpb`);
    expect(readdirSync(folder).toSorted()).toEqual(['LICENSE', 'build', 'icon.png', 'manifest.json']);
    const files = readdirSync(path.join(folder, 'build'));
    expect(files).toContain(path.basename(manifest.server.entry_point));
  });

  test('has the tools that its manifest names, and answers with the key and the model of its user', async () => {
    const api = await fakeApi();
    api.reply(answers('Sunny.'));
    const { OPENAI_BASE_URL = '' } = apiEnv(api);
    const server = startBundle({ OPENAI_BASE_URL });
    const tools = (await server.request('tools/list')).result?.tools as Manifest['tools'];
    expect(tools.map(({ name, description }) => ({ name, description }))).toEqual(manifest.tools);
    expect(answerOf(await server.callTool('answer', { query: 'weather?' })).answer).toMatch(/^Sunny\./);
    expect(api.requests).toMatchObject([
      { headers: { authorization: `Bearer ${API_KEY}` }, body: { model: manifest.user_config.model?.default } },
    ]);
  });
});
