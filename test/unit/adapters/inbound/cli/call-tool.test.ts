import { describe, expect, test } from 'vitest';
import { type CallToolOptions, callAndPrint } from '../../../../../src/adapters/inbound/cli/call-tool.ts';
import type { Gateway } from '../../../../../src/application/gateway/gateway.ts';
import { catalogueOf } from '../../../../support/catalogue.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { LOCAL } from '../../../../support/origins.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import {
  echoes,
  failsWith,
  hangs,
  returns,
  ScriptedToolServer,
  says,
  type ToolScript,
} from '../../../../support/scripted-tool-server.ts';

const CLEAR = '\r\u001B[2K';

interface Given extends Partial<Omit<CallToolOptions, 'gateway'>> {
  readonly gateway?: Gateway;
  readonly isTTY?: boolean;
  readonly signal?: AbortSignal;
}

/** Calls the tool `read` of the server `files`, which does this. */
async function run(script: ToolScript, over: Given = {}) {
  const { isTTY = false, signal = never(), ...options } = over;
  const { context, printed } = commandContext({ isTTY });
  const files = new ScriptedToolServer({ read: script });
  const { gateway = startScripted({ files }, context) } = options;
  const called = { gateway, server: 'files', tool: 'read', input: {}, json: false, by: LOCAL };
  return printed(
    callAndPrint({ ...context, catalogue: catalogueOf([gateway], context), ...called, ...options }, signal),
  );
}

describe('prints', () => {
  test.each([
    ['a text', { content: [{ type: 'text', text: 'Hello.\nYou.' }] }, 'Hello.\nYou.\n'],
    ['nothing', { content: [] }, 'null\n'],
    [
      'blocks without a plain value',
      { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
      '[image, image/png, 1 bytes; --save=<folder> writes it to a file]\n',
    ],
  ])('%s, and nothing else', async (_, result, out) => {
    expect(await run(returns(result))).toEqual({ exitCode: 0, out, err: '' });
  });

  test('nothing that controls a terminal, on a terminal only', async () => {
    const text = '\u001B]0;title\u0007\u001B[31mred\n\tnext\u202E';
    expect((await run(says(text), { isTerminal: true })).out).toBe('red\n\tnext\n');
    expect((await run(says(text))).out).toBe(`${text}\n`);
  });
});

describe('fails with 1', () => {
  test.each<readonly [string, ToolScript, string]>([
    [
      'an error of the tool',
      returns({ content: [{ type: 'text', text: 'No \u001B[31msuch\u001B[0m file.\n' }], isError: true }),
      'No such file.\n',
    ],
    [
      'an error of the tool without a text',
      returns({ content: [], isError: true }),
      'The tool reported an error without a text.\n',
    ],
    ['an error of the server', failsWith({ kind: 'json_rpc', code: -32000, message: 'Not today.' }), 'Not today.\n'],
  ])('on %s', async (_, script, err) => {
    expect(await run(script)).toEqual({ exitCode: 1, out: '', err });
  });

  test('on a tool that is probably mistyped', async () => {
    const { err } = await run(hangs, { tool: 'raed' });
    expect(err).toBe('The server files has no tool "raed". Did you mean read?\n');
  });

  test('on a server that does not start, which is not started again', async () => {
    const files = new ScriptedToolServer({}, 'ENOENT');
    const gateway = startScripted({ files }, { definitions: { files: { restart: 'never' } } });
    expect((await run(hangs, { gateway })).err).toBe(
      'The server files is not available: ENOENT. For details, add --debug.\n',
    );
  });
});

test.each<readonly [string, ToolScript, object]>([
  ['the result', echoes, { success: true, result: { path: 'a' } }],
  [
    'an error of the tool',
    returns({ content: [{ type: 'text', text: 'No.' }], isError: true }),
    {
      success: false,
      error: { code: 'TOOL_EXECUTION_ERROR', message: 'No.', details: {} },
      content: [{ type: 'text', text: 'No.' }],
    },
  ],
  [
    'a failure',
    failsWith({ kind: 'too_large', maxBytes: 9 }),
    {
      success: false,
      error: { code: 'RESPONSE_TOO_LARGE', message: expect.any(String), details: { maxBytes: 9 } },
    },
  ],
])('--json prints %s as POST /mcp/call returns it', async (_, script, expected) => {
  expect(JSON.parse((await run(script, { json: true, input: { path: 'a' } })).out)).toEqual(expected);
});

test('Ctrl-C cancels the call', async () => {
  const interruption = new AbortController();
  let isCancelled = false;
  const waits: ToolScript = async (...call) => {
    const outcome = await hangs(...call);
    isCancelled = true;
    return outcome;
  };
  const running = run(waits, { signal: interruption.signal });
  await settled();
  interruption.abort();
  expect(await running).toEqual({ exitCode: 130, out: '', err: 'The call was cancelled.\n' });
  expect(isCancelled).toBe(true);
});

describe('progress', () => {
  const reports: ToolScript = async (args, onProgress, signal) => {
    // A server needs time for its first report.
    await settled();
    onProgress({ progress: 1, total: 4, message: 'Reading\u001B]0;title\u0007\nthe file' });
    onProgress({ progress: 0.5 });
    return says('Done.')(args, onProgress, signal);
  };

  test('is shown on a terminal, in one line that is removed at the end', async () => {
    const { out, err } = await run(reports, { isTTY: true });
    expect(out).toBe('Done.\n');
    expect(err.split(CLEAR)).toEqual([
      '',
      '0 s  Starting files',
      '0 s  files/read',
      '0 s  files/read 1/4 Reading the file',
      '0 s  files/read 0.5',
      '',
    ]);
  });

  test('is neither requested nor shown elsewhere', async () => {
    const files = new ScriptedToolServer({ read: reports });
    expect((await run(reports, { gateway: startScripted({ files }) })).err).toBe('');
    expect(files.last.progressRequests).toBe(0);
  });
});
