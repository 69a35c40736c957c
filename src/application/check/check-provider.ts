import { err, ok } from 'neverthrow';
import { BUILT_IN_SERVER } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import type { ToolProvider } from '../tools/tool-call.ts';
import type { CheckError, CheckSources } from './check-sources.ts';
import type { SourcesReport } from './sources-report.ts';

/** The parts of the program that a call needs. */
interface Checking {
  readonly check: CheckSources;
  /** The result of the tool: complete for programs, short for models. */
  readonly present: (
    report: SourcesReport,
    text: string,
    isComplete: boolean,
  ) => { readonly content: readonly JsonObject[]; readonly structuredContent: JsonObject };
  readonly progress: (done: number, all: number) => string;
  /** Completes "the text" for a text that cannot be checked. */
  readonly problem: (error: Exclude<CheckError, { readonly kind: 'cancelled' }>) => string;
}

interface CheckProviderOptions {
  readonly tool: GatewayTool;
  /** Loads these parts at the first call. */
  readonly load: () => Promise<Checking>;
}

/** The tool that checks the sources of a text. */
export function checkProvider({ tool, load }: CheckProviderOptions): ToolProvider {
  const invalid = (message: string) => err({ kind: 'invalid_input', errors: [{ path: '/text', message }] } as const);
  return {
    serverNames: [BUILT_IN_SERVER],
    toolsFor: () => [tool],
    // A check has its own time limit.
    limitMs: (_, wantedMs) => wantedMs,
    find: (call) => ({ tool: call.tool === tool.name ? tool : undefined }),
    call: async ({ args: { text }, ...call }, signal) => {
      if (typeof text !== 'string') return invalid('must be a string');
      const { check, present, progress, problem } = await load();
      const onProgress = (done: number, total: number) =>
        call.on({ kind: 'progress', progress: { progress: done, total, message: progress(done, total) } });
      const checked = await check({ text, caller: call.by.caller, onProgress }, signal);
      if (checked.isErr()) {
        const { error } = checked;
        return error.kind === 'cancelled' ? err(error) : invalid(problem(error));
      }
      const { door } = call.by;
      const raw = present(checked.value, text, door === 'rest' || door === 'cli');
      return ok({ ...raw, raw, isError: false });
    },
  };
}
