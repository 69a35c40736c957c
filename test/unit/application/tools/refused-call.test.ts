import { describe, expect, test } from 'vitest';
import { rightsBy, type ServerGrant } from '../../../../src/domain/gateway/access.ts';
import type { GatewayTool } from '../../../../src/domain/gateway/gateway-tool.ts';
import { never } from '../../../contract/search-kit.ts';
import { callOn } from '../../../support/catalogue.ts';
import { FakeToolServer, fakeTool } from '../../../support/fake-tool-server.ts';
import { callerOf } from '../../../support/origins.ts';
import { configured, gatewayOf } from '../../../support/scripted-gateway.ts';

const KEPT: readonly GatewayTool[] = [{ ...fakeTool('read'), annotations: { readOnlyHint: true } }, fakeTool('write')];

/** Calls a tool of an idle server, which has listed `KEPT` in an earlier process. */
async function callIdle(grant: ServerGrant, tool: string, exposedName?: string) {
  const server = new FakeToolServer();
  server.tools = [...KEPT];
  const entry = { ...configured('fake', { server, start: 'on_use' }), known: { tools: KEPT, shared: {} } };
  const by = callerOf('alice', { rights: rightsBy({ alice: { servers: { fake: grant } } })({ caller: 'alice' }) });
  const outcome = await callOn(gatewayOf([entry]), { server: 'fake', tool, args: {}, by, exposedName }, never());
  return { starts: server.starts, error: outcome.isErr() ? outcome.error : undefined };
}

// S65
describe('a call that access refuses by its name starts no server', () => {
  test.each<[ServerGrant, string, readonly string[]]>([
    [['read'], 'write', ['read']],
    [['read'], 'missing', ['read']],
    [['wri*'], 'read', ['write']],
    [['*d'], 'write', ['read']],
    ['read_only', 'write', ['read']],
  ])('%j and %s', async (grant, tool, known) => {
    const { starts, error } = await callIdle(grant, tool);
    expect(starts).toBe(0);
    expect(error).toEqual({ kind: 'unknown_tool', server: 'fake', tool, known, isDenied: true });
  });

  test.each<[ServerGrant, string]>([
    ['all', 'missing'],
    ['read_only', 'missing'],
    ['read_only', 'read'],
    [['read'], 'read'],
    [['*'], 'missing'],
  ])('%j and %s: started, because the name may be allowed', async (grant, tool) => {
    expect((await callIdle(grant, tool)).starts).toBe(1);
  });

  test('a name with a hash is decided when the list is known', async () => {
    expect(await callIdle(['read'], 'other_0123abcd', 'fake__read')).toEqual({ starts: 1, error: undefined });
  });
});
