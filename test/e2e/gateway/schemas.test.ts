import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCli } from '../../support/mcp-process.ts';
import { type ScriptedTool, scriptedServer, text } from '../../support/scripted-mcp.ts';
import { newFile } from '../files.ts';
import { startGatewayProcess } from './serve-gateway.ts';

test('calls of Playwright without the members that have a default reach the server, over REST and in the terminal', async () => {
  // As @playwright/mcp 0.0.83 lists them.
  const listed = JSON.parse(readFileSync('test/fixtures/playwright-tools.json', 'utf8')) as ScriptedTool[];
  const playwright = scriptedServer(listed.map((tool) => ({ ...tool, reactions: [text('ok')] })));
  const { command, args } = playwright;
  const entry = { name: 'playwright', command, args };
  const gateway = await startGatewayProcess([entry]);
  await gateway.untilState('playwright', 'available');
  const { status, body } = await gateway.call('playwright', 'browser_take_screenshot');
  expect([status, body.error]).toEqual([200, undefined]);
  const wrong = await gateway.call('playwright', 'browser_take_screenshot', { scale: 'huge', type: 1 });
  expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
  expect(wrong.body.error).toMatchObject({ details: { errors: [{ path: '/type', message: 'must be string' }] } });

  const config = newFile('terminal.yaml', JSON.stringify({ servers: [entry] }));
  for (const name of ['browser_console_messages', 'browser_network_requests']) {
    const ran = await runCli(['call', 'playwright', name, '{}', '--config', config]);
    expect(ran).toMatchObject({ code: 0, stdout: 'ok\n' });
  }
  expect(playwright.calls()).toEqual([
    'browser_take_screenshot {}',
    'browser_console_messages {}',
    'browser_network_requests {}',
  ]);
});
