import { Client } from '@modelcontextprotocol/client';
import type { ServerEvents } from '../../../application/ports/tool-server.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { SettlingTransport } from './settling-transport.ts';

/** How this program names itself to servers. */
export interface ClientIdentity {
  readonly name: string;
  readonly version: string;
}

interface ClientOptions {
  readonly identity: ClientIdentity;
  readonly mode: 'legacy' | 'auto';
  /** The capabilities that are declared to a server of a revision before 2026-07-28: what its callers can be asked. */
  readonly declared?: JsonObject | undefined;
}

/** Makes the client report a changed list at once, without reading the list. */
const AT_ONCE = { autoRefresh: false, debounceMs: 0 };

/** Connects the official client. `auto` tries MCP 2026-07-28 first. Rejects if there is no connection. */
export async function connectClient(
  transport: SettlingTransport,
  { identity, mode, declared = {} }: ClientOptions,
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
    capabilities: declared,
    versionNegotiation: { mode },
    listChanged: Object.fromEntries(listChanged),
    // This program checks results itself, and does not reject them by schemas of other dialects.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  });
  // Stray and late messages are not errors of any call.
  client.onerror = () => {};
  // Some servers send these notifications without declaring them. If a server declares them, `listChanged` replaces this handler.
  for (const [list, onChanged] of Object.entries(handlers)) {
    client.setNotificationHandler(`notifications/${list as keyof typeof handlers}/list_changed`, onChanged);
  }
  await client.connect(transport, { signal });
  return client;
}
