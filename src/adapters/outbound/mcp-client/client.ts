import { Client, type Transport } from '@modelcontextprotocol/client';
import type { ServerEvents } from '../../../application/ports/tool-server.ts';

/** How this program names itself to servers. */
export interface ClientIdentity {
  readonly name: string;
  readonly version: string;
}

/** Connects the official client. `auto` tries MCP 2026-07-28 first (ruling G5). Rejects if that fails. */
export async function connectClient(
  transport: Transport,
  {
    identity,
    mode,
    events,
    signal,
  }: {
    readonly identity: ClientIdentity;
    readonly mode: 'legacy' | 'auto';
    readonly events: ServerEvents;
    readonly signal: AbortSignal;
  },
): Promise<Client> {
  const client = new Client(identity, {
    capabilities: {},
    versionNegotiation: { mode },
    listChanged: { tools: { autoRefresh: false, onChanged: () => events.onToolsChanged() } },
    // Results are checked by this program, which knows more versions of JSON Schema.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  });
  // Stray and late messages are not errors of any call.
  client.onerror = () => {};
  await client.connect(transport, { signal });
  return client;
}
