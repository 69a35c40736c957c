import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCli } from '../../support/mcp-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { newFolder } from '../files.ts';

/** A server that records how it was started, and whose only tool returns it. */
const STUB = `#!${process.execPath}
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const seen = { args: process.argv.slice(2), cwd: process.cwd(), env: process.env };
require('node:fs').appendFileSync(__filename + '.jsonl', JSON.stringify(seen) + '\\n');
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'stub', version: '1' } }),
  'tools/list': () => ({ tools: ['seen', 'other'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': () => ({ content: [], structuredContent: seen }),
};
let text = '';
process.stdin.on('data', (chunk) => {
  text += chunk;
  for (let end; (end = text.indexOf('\\n')) >= 0; ) {
    const { id, method, params } = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    if (id !== undefined) send({ id, result: answers[method]?.(params) ?? {} });
  }
});
process.stdin.on('end', () => process.exit(0));
`;

export interface Seen {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A home folder, a project in it, another folder to start in, and commands that record how they were started. */
export function newProject(env: Readonly<Record<string, string>> = {}) {
  const home = realpathSync(newFolder());
  const [project, elsewhere, bin] = ['work/app', 'elsewhere', 'bin'].map((name) => path.join(home, name)) as [
    string,
    string,
    string,
  ];
  const write = (file: string, content: string | object) => {
    const target = path.resolve(project, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content));
    return target;
  };
  const addCommand = (file: string) => chmodSync(write(file, STUB), 0o755);
  for (const folder of [project, elsewhere, bin]) mkdirSync(folder, { recursive: true });
  for (const name of ['stub', 'npx', 'docker']) addCommand(path.join(bin, name));
  const variables = { PATH: `${bin}${path.delimiter}${process.env.PATH}`, [HOME_VARIABLE]: home, ...env };
  const run = (args: readonly string[], cwd = elsewhere) => runCli(args, { env: variables, cwd });
  const options = (files: readonly string[]) => files.flatMap((file) => ['--servers', file]);
  return {
    home,
    project,
    elsewhere,
    write,
    addCommand,
    run,
    /** How the servers with the command `stub` were started, in any order. */
    started: (): readonly Seen[] => {
      const lines = readFileSync(path.join(bin, 'stub.jsonl'), 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line));
    },
    /** How a server is started. */
    seen: async (server: string, ...files: readonly string[]): Promise<Seen> => {
      const { stdout, stderr } = await run(['call', server, 'seen', ...options(files)]);
      if (!stdout.startsWith('{')) throw new Error(stdout + stderr);
      return JSON.parse(stdout);
    },
    /** The list of servers and tools, and the warnings, without line breaks. */
    tools: (...files: readonly string[]) => run(['tools', '--fresh', ...options(files)]),
    json: async (...files: readonly string[]) => JSON.parse((await run(['tools', '--json', ...options(files)])).stdout),
  };
}
