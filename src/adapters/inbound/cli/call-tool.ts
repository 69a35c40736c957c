import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { CallEvent, ToolError } from '../../../application/tools/tool-call.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import type { CallOrigin } from '../../../domain/gateway/call-origin.ts';
import type { Asker } from '../../../domain/gateway/elicitation.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { toPlainResult } from '../../../domain/gateway/tool-result.ts';
import { toolsByName } from '../../../domain/gateway/unique-names.ts';
import { cleanLine, cleanText } from '../../../domain/values/clean-text.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { ofFailedCall, ofToolError } from '../http/refusal.ts';
import { messageFor } from '../words/error-messages.ts';
import { onlyCallMessage } from '../words/tool-error-messages.ts';
import { type CallInput, toArguments } from './call-input.ts';
import { type PrintOptions, printResult } from './call-result.ts';
import { type FailureOptions, openLine, reportFailure } from './terminal.ts';

export interface CallToolOptions extends PrintOptions {
  readonly by: CallOrigin;
  readonly gateway: Gateway | undefined;
  readonly catalogue: Pick<ToolCatalogue, 'call'>;
  readonly server: string;
  /** The name of the tool, as the server or as MCP clients know it. */
  readonly tool: string;
  readonly input: CallInput;
  /** Asks the person at the terminal what the server wants to know. Absent in a script. */
  readonly asker?: Asker | undefined;
  /** Prints the response of `POST /mcp/call`, without `requestId`. */
  readonly json: boolean;
}

/** Calls one tool for a person, prints its result and returns the exit code. `signal` aborts on Ctrl-C. */
export async function callAndPrint(options: CallToolOptions, signal: AbortSignal): Promise<number> {
  const { gateway, catalogue, by, redactor, server } = options;
  const line = openLine(options, `Starting ${server}`);
  const asker = options.asker && line ? besides(line, options.asker) : options.asker;
  await gateway?.whenStarted(Number.POSITIVE_INFINITY, signal);
  const found = findTool(gateway?.as(by).tools ?? [], options);
  const { name: tool } = found;
  line?.show(`${server}/${tool}`);
  const args = toArguments(options.input, found.inputSchema);
  if (args.isErr()) {
    line?.end();
    return refuseInput(args.error, options);
  }
  const on = (event: CallEvent) => {
    if (event.kind !== 'progress') return;
    const { progress, total, message = '' } = event.progress;
    const count = total === undefined ? String(progress) : `${progress}/${total}`;
    line?.show(redactor.inLogs(cleanLine(`${server}/${tool} ${count} ${message}`)));
  };
  const wantsProgress = line !== undefined;
  const call = { server, tool, args: args.value, by, wantsProgress, waitsForStart: true, asker, on };
  const outcome = await catalogue.call(call, signal);
  line?.end();
  if (outcome.isErr()) return reportError(outcome.error, options);
  const { content, structuredContent, isError } = outcome.value;
  if (isError) {
    const failure = ofToolError(outcome.value, FAILED);
    reportFailure(options, failure, cleanText(failure.message).trim());
    return FAILED;
  }
  const response = { success: true, ...toPlainResult(outcome.value) };
  const shown = { content, structured: structuredContent };
  return (await printResult(shown, response, { ...options, tool })) ? SUCCEEDED : FAILED;
}

/** Asks while the line with the progress is hidden. */
function besides({ aside }: Pick<ReturnType<typeof openLine> & object, 'aside'>, asker: Asker): Asker {
  return { ...asker, ask: (elicitation, signal) => aside(() => asker.ask(elicitation, signal)) };
}

/** The tool that a name means: one of the server, or one over MCP, where a long name ends with a hash. */
export function findTool(
  tools: readonly GatewayTool[],
  { server, tool }: Pick<CallToolOptions, 'server' | 'tool'>,
): Pick<GatewayTool, 'name'> & Partial<GatewayTool> {
  const own = tools.filter((one) => one.server === server);
  const named = toolsByName({ tools: own, changed: [], servers: [{ name: server }] });
  return own.find(({ name }) => name === tool) ?? named.get(`${server}__${tool}`) ?? { name: tool };
}

/** Reports an input that cannot be read, and returns the exit code. */
export function refuseInput(message: string, options: FailureOptions): number {
  reportFailure(options, { code: 'VALIDATION_ERROR', message });
  return BAD_USAGE;
}

function reportError(error: ToolError, options: CallToolOptions): number {
  const isAnswer = error.kind === 'answer_failed';
  const words = isAnswer ? messageFor(error.error) : onlyCallMessage(error, options.ownCommand);
  reportFailure(options, ofFailedCall(error, FAILED, options.redactor), words);
  if (error.kind === 'unknown_server') return BAD_USAGE;
  return error.kind === 'cancelled' ? INTERRUPTED : FAILED;
}
