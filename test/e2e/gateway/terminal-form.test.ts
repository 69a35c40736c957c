import { expect, test } from 'vitest';
import { describeWith } from '../../support/find-program.ts';
import { runCli } from '../../support/mcp-process.ts';
import { startInTerminal } from '../../support/pseudo-terminal.ts';
import { earlierServer, modernServer } from '../../support/servers/asking-servers.ts';
import { newFile, newFolder } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

function configured(...servers: readonly object[]): string {
  return newFile('config.json', JSON.stringify({ servers }));
}

// S85
describeWith(['python3'], 'in a terminal', (python) => {
  /** Calls a tool of a server that asks, and types each text as soon as its prompt is shown. */
  async function call(
    words: readonly string[],
    typed: readonly (readonly [prompt: string, text: string])[],
    columns = 80,
  ) {
    const config = configured(earlierServer('files'));
    const argv = [BUILT_PROGRAM, 'call', 'files', ...words, '--config', config];
    const terminal = startInTerminal({ argv, python, columns, home: newFolder() });
    let from = 0;
    for (const [prompt, text] of typed) {
      await expect.poll(() => terminal.shown().indexOf(prompt, from), { timeout: 60_000 }).toBeGreaterThanOrEqual(0);
      from = terminal.shown().indexOf(prompt, from) + prompt.length;
      terminal.type(text);
    }
    return { code: await terminal.exited, shown: terminal.shown() };
  }

  test('a form is asked line by line, and its result is printed', async () => {
    const { code, shown } = await call(
      ['delete', 'files=3'],
      [
        ['files asks: Delete 3 files? (Ctrl-D: decline, Ctrl-C: cancel)', ''],
        ['sure (y/n) [n]: ', 'perhaps\r'],
        ['Expected: y or n.', ''],
        ['sure (y/n) [n]: ', 'y\r'],
        ['reason (text, at least 1 character, optional): ', '古い\r'],
      ],
    );
    expect(shown).toContain('{"action":"accept","content":{"sure":true,"reason":"古い"}}');
    expect(code).toBe(0);
  });

  test.each([
    ['Ctrl-D', CTRL_D, 'decline'],
    ['Ctrl-C', CTRL_C, 'cancel'],
  ])('%s ends the question, and the call goes on', async (_, key, action) => {
    const { code, shown } = await call(['delete'], [['sure (y/n) [n]: ', key]]);
    expect(shown).toContain(`{"action":"${action}"}`);
    expect(code).toBe(0);
  });

  test('a URL is shown with its host, and Enter accepts it', async () => {
    const { code, shown } = await call(['visit'], [['Press Enter to accept: ', '\r']]);
    expect(shown).toContain('Open this URL, at example.com, in your browser:\r\nhttps://example.com/login?a=1\r\n');
    expect(shown).toContain('{"action":"accept"}');
    expect(code).toBe(0);
  });

  test('several questions of one call are asked, and nothing controls the terminal', async () => {
    const asked = await call(
      ['twice'],
      [
        ['First?', ''],
        ['sure (y/n) [n]: ', '\r'],
        ['reason', '\r'],
        ['Second?', ''],
        ['sure (y/n) [n]: ', 'y\r'],
        ['reason', '\r'],
      ],
    );
    expect(asked.shown).toContain(
      '[{"action":"accept","content":{"sure":false}},{"action":"accept","content":{"sure":true}}]',
    );
    const { shown } = await call(['hidden'], [['sure (y/n) [n]: ', CTRL_D]]);
    expect(shown).toContain('files asks: Delete 3 files? (Ctrl-D');
  });

  test('a server gets what the terminal can do', async () => {
    expect((await call(['declared'], [])).shown).toContain('{"elicitation":{"form":{},"url":{}}}');
  });

  test('a narrow terminal shows everything', async () => {
    const { code, shown } = await call(
      ['delete'],
      [
        ['[n]: ', 'y\r'],
        ['reason', '理由は長いので二行になります\r'],
      ],
      20,
    );
    expect(shown).toContain('"reason":"理由は長いので二行になります"');
    expect(code).toBe(0);
  });

  test('with --no-input, nobody is asked', async () => {
    const { code, shown } = await call(['delete', '--no-input'], []);
    expect(shown).toContain('files asks: Delete 3 files? Nobody can be asked here.');
    expect(code).toBe(1);
  });

  test('a server of the current revision asks in the same way', async () => {
    const config = configured((await modernServer('notes')).entry);
    const argv = [BUILT_PROGRAM, 'call', 'notes', 'delete', '--config', config];
    const terminal = startInTerminal({ argv, python, home: newFolder() });
    await expect.poll(terminal.shown, { timeout: 60_000 }).toContain('notes asks: Delete 3 files?');
    await expect.poll(terminal.shown).toContain('sure (y/n) [n]: ');
    terminal.type('y\r');
    await expect.poll(terminal.shown).toContain('reason');
    terminal.type('\r');
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown()).toContain('"sure":true');
  });
});

test('without a terminal, the call ends with the question', async () => {
  const config = configured(earlierServer('files'));
  const { code, stdout, stderr } = await runCli(['call', 'files', 'delete', '--json', '--config', config]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'files asks: Delete 3 files? Nobody can be asked here. Call this tool from a client that supports elicitation, or in the terminal.\n',
  });
  expect(JSON.parse(stdout)).toMatchObject({
    success: false,
    error: { code: 'INPUT_REQUIRED', details: { server: 'files' } },
  });
  expect((await runCli(['call', 'files', 'declared', '--config', config])).stdout).toBe('{}\n');
});
