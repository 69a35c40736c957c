import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NOTHING } from '../../../src/domain/gateway/call-origin.ts';
import { withAudit } from '../../../src/wiring/audit.ts';
import { bootstrap } from '../../../src/wiring/runtime.ts';

test.each([
  ['stdio', {}, 'denied'],
  // The gateway knows which servers there are after a reload, and who does not see them.
  ['HTTP', { '--http': '127.0.0.1:0' }, 'unknown_tool'],
])('a server that the configuration had at the start counts as hidden on %s: %s', async (_, options, outcome) => {
  const folder = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const environment = { HOME: folder, MCP_EXPOSE: '1' };
  const loaded = await bootstrap({ environment, commandLine: options, version: '1.0.0' });
  if (!('value' in loaded)) throw new Error(JSON.stringify(loaded.problems));
  const { value: runtime } = loaded;
  const servers = [{ name: 'notes' }] as unknown as NonNullable<typeof runtime.config.servers>;
  const config = { ...runtime.config, servers, gateway: { ...runtime.config.gateway, expose: true as const } };
  const file = join(folder, 'audit.log');
  const { audit, onUnknownTool } = withAudit({ ...runtime, config }, { file, arguments: 'none', onFailure: 'refuse' });
  const by = { caller: 'local', door: 'stdio' as const, rights: () => NOTHING };
  expect(await onUnknownTool?.({ name: 'notes__read', args: {}, by }, false)).toBe('unknown_tool');
  await audit?.close();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ server: 'notes', outcome });
});
