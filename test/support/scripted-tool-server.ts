import { err, ok, type Result } from 'neverthrow';
import type {
  ServerConnection,
  ServerEvents,
  ToolProgress,
  ToolServer,
} from '../../src/application/ports/tool-server.ts';
import { parseTool } from '../../src/domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../src/domain/json.ts';
import type { ToolServerError } from '../../src/domain/tool-call-error.ts';
import { parseToolResult, type ToolResult } from '../../src/domain/tool-result.ts';

type Outcome = Result<ToolResult, ToolServerError>;

/** What a tool does when it is called. */
export type ToolScript = (
  args: JsonObject,
  onProgress: (progress: ToolProgress) => void,
  signal: AbortSignal,
) => Promise<Outcome>;

/** A script, or a script and what the server says about the tool. */
type ScriptedTool = ToolScript | ({ readonly script: ToolScript } & JsonObject);

/** How a start of the server ends: connected, for this reason not, or not before the test calls `letStart`. */
export type ScriptedStart = 'connects' | 'waits' | { readonly fails: string };

/** A server whose tools are functions of the test. It records the calls, and the signal of each. */
export class ScriptedToolServer implements ToolServer {
  readonly calls: { readonly tool: string; readonly args: JsonObject; readonly signal: AbortSignal }[] = [];
  /** The number of starts. */
  starts = 0;
  #tools: Readonly<Record<string, ScriptedTool>>;
  readonly #script: readonly ScriptedStart[];
  #events: ServerEvents | undefined;
  #lost = new AbortController();
  #letStart: () => void = () => {};
  readonly #mayStart = new Promise<void>((resolve) => {
    this.#letStart = resolve;
  });

  /** Starts beyond those that are listed connect. */
  constructor(tools: Readonly<Record<string, ScriptedTool>> = {}, ...starts: readonly ScriptedStart[]) {
    this.#tools = tools;
    this.#script = starts;
  }

  async connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>> {
    const start = this.#script[this.starts] ?? 'connects';
    this.starts += 1;
    if (isObject(start)) return err(start.fails);
    if (start === 'waits') await Promise.race([this.#mayStart, whenAborted(signal)]);
    if (signal.aborted) return err('aborted');
    const lost = new AbortController();
    this.#lost = lost;
    this.#events = events;
    const listed = () =>
      Object.entries(this.#tools).flatMap(([name, scripted]) => {
        const described = typeof scripted === 'function' ? {} : { ...scripted, script: undefined };
        return parseTool('', { name, inputSchema: { type: 'object' }, ...described }) ?? [];
      });
    return ok({
      transport: 'stdio',
      pid: 4711,
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'scripted', version: '1.0.0' },
      listTools: async () => ok(listed().map((tool) => ({ ...tool, server: this.name }))),
      callTool: (tool, args, onProgress, signal) => {
        this.calls.push({ tool, args, signal });
        const scripted = this.#tools[tool];
        const script = typeof scripted === 'function' ? scripted : scripted?.script;
        if (script === undefined) throw new Error(`There is no script for the tool ${tool}`);
        const crashed = whenAborted(lost.signal).then(
          (): Outcome => err({ kind: 'crashed', reason: 'killed by SIGKILL' }),
        );
        return Promise.race([script(args, onProgress ?? (() => {}), signal), crashed]);
      },
      close: async () => lost.abort(),
    });
  }

  /** The name in the configuration. */
  name = '';

  /** Ends the starts that wait. */
  letStart(): void {
    this.#letStart();
  }

  /** The process ends; calls in flight fail. */
  crash(reason = 'killed by SIGKILL'): void {
    this.#lost.abort();
    this.#events?.onLost(reason);
  }

  /** The server has other tools from now on, and reports it. */
  change(tools: Readonly<Record<string, ScriptedTool>>): void {
    this.#tools = tools;
    this.#events?.onToolsChanged();
  }
}

/** Returns this result. */
export function returns(result: JsonObject): ToolScript {
  const parsed = parseToolResult(result);
  if (parsed === undefined) throw new Error('This is not the result of a tool');
  return async () => ok(parsed);
}

/** Returns one text. */
export function says(text: string): ToolScript {
  return returns({ content: [{ type: 'text', text }] });
}

export function failsWith(error: ToolServerError): ToolScript {
  return async () => err(error);
}

/** Waits until the caller gives up. */
export const hangs: ToolScript = async (_args, _onProgress, signal) => {
  await whenAborted(signal);
  return err({ kind: 'aborted' });
};

/** Returns its arguments. */
export const echoes: ToolScript = (args, onProgress, signal) =>
  returns({ content: [], structuredContent: args })(args, onProgress, signal);

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
