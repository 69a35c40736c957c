import { expect, test } from 'vitest';
import { type LockOptions, lockTools } from '../../../../../src/adapters/inbound/cli/lock-tools.ts';
import { parseLock } from '../../../../../src/domain/gateway/approved-tools.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { echoes, ScriptedToolServer, type ScriptedTools } from '../../../../support/scripted-tool-server.ts';

const NOTES = {
  read: { script: echoes, description: 'Reads.\nSlowly.' },
  'odd\u001Bname': echoes,
};
const definitions = { broken: { restart: 'never' as const } };

/** What the command prints and writes, with these tools of `notes`; `broken` is a server that cannot start. */
async function run(
  tools: ScriptedTools,
  more: Partial<LockOptions> & { readonly isBroken?: boolean } = {},
  signal = never(),
) {
  const { context, printed } = commandContext();
  const saved: string[] = [];
  const save = async (_: string, text: string) => void saved.push(text);
  const broken = more.isBroken ? { broken: new ScriptedToolServer({}, 'no licence') } : {};
  const gateway = startScripted({ notes: new ScriptedToolServer(tools), ...broken }, { definitions });
  const locked = { action: 'diff', json: false, file: '/lock.json', approved: undefined, gateway, save } as const;
  return { ...(await printed(lockTools({ ...context, ...locked, ...more }, signal))), saved };
}

async function approvedOf(tools: ScriptedTools) {
  const { saved } = await run(tools, { action: 'lock' });
  return parseLock(saved[0] ?? '') ?? expect.fail('the file is damaged');
}

test('--lock writes the tools, and then there are no differences', async () => {
  expect(await run(NOTES, { action: 'lock' })).toMatchObject({
    exitCode: 0,
    out: 'Approved 2 tools in /lock.json.\n',
    err: '',
    saved: [expect.stringMatching(/^\{\n {2}"servers": \{\n {4}"notes": \{\n {6}"serverInfo": /)],
  });
  const approved = await approvedOf(NOTES);
  expect(await run(NOTES, { approved })).toMatchObject({ exitCode: 0, out: '', err: '', saved: [] });
  expect((await run(NOTES, { approved, json: true })).out).toBe('{\n  "differences": []\n}\n');
});

test('--lock keeps what was approved of a server that is not available, and fails', async () => {
  const notes = await approvedOf(NOTES);
  const approved = {
    servers: {
      broken: { tools: { a: { description: '', inputSchema: {} } } },
      gone: notes.servers.notes ?? { tools: {} },
    },
  };
  const { exitCode, err, saved } = await run(NOTES, { action: 'lock', approved, isBroken: true });
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'The server broken is not available (no licence). Its approved tools were neither compared nor changed.\n',
  });
  expect(parseLock(saved[0] ?? '')).toEqual({
    servers: { broken: approved.servers.broken, notes: notes.servers.notes },
  });
});

test('--diff does not succeed if a server cannot be compared', async () => {
  const approved = await approvedOf(NOTES);
  expect(await run(NOTES, { approved, isBroken: true })).toMatchObject({ exitCode: 1, out: '' });
});

test('a file that cannot be written is an error', async () => {
  const save = () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }));
  expect(await run(NOTES, { action: 'lock', save })).toMatchObject({
    exitCode: 1,
    out: '',
    err: 'The file /lock.json cannot be written (EACCES).\n',
  });
});

test('an interrupted start approves nothing', async () => {
  expect(await run(NOTES, { action: 'lock' }, AbortSignal.abort())).toMatchObject({
    exitCode: 130,
    out: '',
    saved: [],
  });
});

test('--diff shows hidden and control characters, and no line of a text looks like another one', async () => {
  const approved = await approvedOf({ ...NOTES, gone: echoes });
  const tools = {
    read: {
      script: echoes,
      description: 'Reads.\nnew notes/fake\r\tS\u200Blowly \u{E0041}sk-proj-Ab12cd34',
      annotations: { title: 'x\u202E' },
    },
    'odd\u001Bname': echoes,
    'more\n': echoes,
  };
  const { exitCode, out } = await run(tools, { approved });
  expect(exitCode).toBe(1);
  expect(out).toBe(`changed notes/read
  annotations:
  + {
  +   "title": "x<U+202E>"
  + }
  description:
  - Reads.
  - Slowly.
  + Reads.
  + new notes/fake<U+000D><U+0009>S<U+200B>lowly <U+E0041>[redacted]
new notes/more<U+000A>
removed notes/gone
`);
});

test('--json has the definitions; a person sees hidden characters, a program gets them', async () => {
  const approved = await approvedOf({ read: echoes });
  const tools = { read: { script: echoes, description: 'S\u200Blow' } };
  const { exitCode, out } = await run(tools, { approved, json: true });
  expect(exitCode).toBe(1);
  const inputSchema = { type: 'object' };
  const difference = { server: 'notes', tool: 'read', change: 'changed', before: { description: '', inputSchema } };
  expect(JSON.parse(out)).toEqual({
    differences: [{ ...difference, after: { description: 'S\u200Blow', inputSchema } }],
  });
  expect((await run(tools, { approved, json: true, isTerminal: true })).out).toContain('"S<U+200B>low"');
});

test('without servers, nothing is approved', async () => {
  expect((await run({}, { action: 'lock', gateway: undefined })).saved).toEqual([
    '{\n  "servers": {},\n  "version": 1\n}\n',
  ]);
});
