import { err, ok, type Result } from 'neverthrow';
import type { ToolProgress } from '../../src/application/ports/tool-server.ts';
import type { GatewayTool } from '../../src/domain/gateway/gateway-tool.ts';
import { parseTool } from '../../src/domain/gateway/listed-tool.ts';
import type { ToolServerError } from '../../src/domain/gateway/tool-call-error.ts';
import { parseToolResult, type ToolResult } from '../../src/domain/gateway/tool-result.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { FakeToolServer, textResult, untilAborted } from './fake-tool-server.ts';

/** What a tool does when it is called. */
export type ToolScript = (
  args: JsonObject,
  onProgress: (progress: ToolProgress) => void,
  signal: AbortSignal,
) => Promise<Result<ToolResult, ToolServerError>>;

/** Tools by their names: a script each, or a script and what the server says about the tool. */
export type ScriptedTools = Readonly<Record<string, ToolScript | ({ readonly script: ToolScript } & JsonObject)>>;

/** A ToolServer in memory whose tools are functions of the test. It records the calls, and the signal of each. */
export class ScriptedToolServer extends FakeToolServer {
  readonly calls: { readonly tool: string; readonly args: JsonObject; readonly signal: AbortSignal }[] = [];
  /** The name in the configuration. */
  name = '';
  #scripted: ScriptedTools;

  /** `connects` is as in FakeToolServer. */
  constructor(tools: ScriptedTools = {}, ...connects: readonly string[]) {
    super();
    this.#scripted = tools;
    this.connects.push(...connects);
    this.list = async () => ok(this.#listed());
    this.answer = (tool, args, onProgress, signal) => {
      this.calls.push({ tool, args, signal });
      const scripted = this.#scripted[tool];
      const script = typeof scripted === 'function' ? scripted : scripted?.script;
      if (script === undefined) throw new Error(`There is no script for the tool ${tool}`);
      return script(args, onProgress, signal);
    };
  }

  /** The process ends; calls in flight fail. */
  crash(): void {
    this.last.lose('killed by SIGKILL');
  }

  /** The server has other tools from now on, and reports it. */
  change(tools: ScriptedTools): void {
    this.#scripted = tools;
    this.last.changeTools(this.#listed());
  }

  #listed(): readonly GatewayTool[] {
    return Object.entries(this.#scripted).flatMap(([name, scripted]) => {
      const described = typeof scripted === 'function' ? {} : scripted;
      return parseTool(this.name, { name, inputSchema: { type: 'object' }, ...described }) ?? [];
    });
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
  return async () => ok(textResult(text));
}

export function failsWith(error: ToolServerError): ToolScript {
  return async () => err(error);
}

/** Waits until the caller gives up. */
export const hangs: ToolScript = async (_args, _onProgress, signal) => {
  await untilAborted(signal);
  return err({ kind: 'aborted' });
};

/** Returns its arguments. */
export const echoes: ToolScript = (args, ...rest) => returns({ content: [], structuredContent: args })(args, ...rest);
