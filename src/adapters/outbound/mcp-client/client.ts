import { Client, type Transport } from '@modelcontextprotocol/client';
import type { ServerEvents } from '../../../application/ports/tool-server.ts';
import { SettlingTransport } from './settling-transport.ts';

/** How this program names itself to servers. */
export interface ClientIdentity {
  readonly name: string;
  readonly version: string;
}

/** How the client reports a changed list, which it does not read. */
const AT_ONCE = { autoRefresh: false, debounceMs: 0 };

/** Connects the official client. `auto` tries MCP 2026-07-28 first. Rejects if that fails. */
export async function connectClient(
  transport: Transport,
  identity: ClientIdentity,
  mode: 'legacy' | 'auto',
  events: Pick<ServerEvents, 'onToolsChanged' | 'onListChanged'>,
  signal: AbortSignal,
): Promise<Client> {
  const { onListChanged } = events;
  const handlers = {
    tools: () => events.onToolsChanged(),
    ...(onListChanged && { prompts: () => onListChanged('prompts'), resources: () => onListChanged('resources') }),
  };
  const listChanged = Object.entries(handlers).map(([list, onChanged]) => [list, { ...AT_ONCE, onChanged }]);
  const client = new Client(identity, {
    capabilities: {},
    versionNegotiation: { mode },
    listChanged: Object.fromEntries(listChanged),
    // Results are checked by this program, which knows more versions of JSON Schema.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  });
  // Stray and late messages are not errors of any call.
  client.onerror = () => {};
  // Some servers send it without announcing it. For those that announce it, `listChanged` replaces this handler.
  for (const [list, onChanged] of Object.entries(handlers)) {
    client.setNotificationHandler(`notifications/${list as keyof typeof handlers}/list_changed`, onChanged);
  }
  await client.connect(new SettlingTransport(transport), { signal });
  return client;
}
