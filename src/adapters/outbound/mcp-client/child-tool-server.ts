import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/services.ts';
import type { ServerConnection, ServerEvents, ToolServer } from '../../../application/ports/tool-server.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { ChildTransport, type ChildTransportOptions } from './child-transport.ts';
import type { ClientIdentity } from './client.ts';
import { ServerQuestions } from './server-questions.ts';

type Options = ChildTransportOptions & {
  readonly identity: ClientIdentity;
  readonly clock: Clock;
  readonly forwardBaggage?: boolean | undefined;
  /** Returns what callers can be asked, when the server starts. */
  readonly declared?: (() => JsonObject) | undefined;
};

/** A server that runs as a child process and speaks MCP over its standard input and output. */
export class ChildToolServer implements ToolServer {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>> {
    if (signal.aborted) return err('aborted');
    const { name, identity, clock, maxBytes, forwardBaggage, logger, declared } = this.#options;
    const transport = new ChildTransport(this.#options);
    const lostReason = () => transport.lostReason ?? 'the process has ended';
    let isClosing = false;
    const close = () => {
      isClosing = true;
      return transport.close();
    };
    const onAbort = () => void close();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      // The client is loaded while the process starts, which takes about as long.
      const [{ connectClient }, { McpConnection }, { SettlingTransport }] = await Promise.all([
        import('./client.ts'),
        import('./mcp-connection.ts'),
        import('./settling-transport.ts'),
      ]);
      const client = await connectClient(
        new SettlingTransport(transport, new ServerQuestions(name, clock)),
        { identity, mode: 'legacy', declared: declared?.() },
        events,
        signal,
      );
      client.onclose = () => {
        if (!isClosing) events.onLost(lostReason(), transport.lastLine);
      };
      const { pid } = transport;
      return ok(
        new McpConnection(client, {
          name,
          transport: 'stdio',
          pid,
          maxBytes,
          logger,
          forwardBaggage,
          lostReason,
          close,
          onBroken: () => {},
        }),
      );
    } catch (thrown) {
      const { lostReason, lastLine = 'it wrote nothing; run its command in a terminal' } = transport;
      await close();
      return err(lostReason === undefined ? String((thrown as Error).message) : `${lostReason}: ${lastLine}`);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
