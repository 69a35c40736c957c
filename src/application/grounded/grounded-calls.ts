import { isLocal } from '../../domain/gateway/call-origin.ts';
import { isReadOnly } from '../../domain/gateway/gateway-tool.ts';
import { TOOL_ERRORS, type ToolCallError } from '../../domain/gateway/tool-call-error.ts';
import { type ToolResult, textOf } from '../../domain/gateway/tool-result.ts';
import type { OfferedFunction } from '../../domain/grounded/grounding.ts';
import { callName, type OwnSource, sourcesOf, withoutLocalPath } from '../../domain/grounded/own-source.ts';
import { type ToolOutput, toErrorOutput, toProblemOutput, toToolOutput } from '../../domain/grounded/tool-output.ts';
import { cleanText } from '../../domain/values/clean-text.ts';
import { isObject, type JsonObject, parseJson } from '../../domain/values/json.ts';
import { untilAborted } from '../async/deadline.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { FunctionCall, Round, SearchObserver, SearchRequest } from '../ports/llm-search.ts';
import type { Services } from '../ports/services.ts';
import type { CallEvent, ToolError } from '../tools/tool-call.ts';
import type { ToolCatalogue } from '../tools/tool-catalogue.ts';

/** The gateway, and the current configuration of its servers. */
export interface AnswerGateway {
  readonly gateway: Pick<Gateway, 'as' | 'tools'>;
  readonly call: ToolCatalogue['call'];
  /** Whether the server is configured as public at the time of the call. */
  isPublic(server: string): boolean;
}

interface Options extends Pick<Services, 'clock' | 'redactor'> {
  readonly functions: readonly OfferedFunction[];
  readonly answerGateway: AnswerGateway | undefined;
  readonly observer: SearchObserver;
  readonly maxCalls: number;
  readonly maxOutputChars: number;
  readonly request: Pick<SearchRequest, 'by' | 'deadlineMs'>;
  readonly messageFor: (error: ToolCallError) => string;
}

/** Maximum number of calls of a response that run at the same time. */
const CONCURRENT = 4;
/** The time that is left to the model for its answer after the last call. */
export const RESERVED_MS = 15_000;
/** Limits of all outputs of an answer together: the text, as a multiple of the limit of one output, and the images. */
const TOTAL_OUTPUTS = 10;
const MAX_IMAGE_BYTES = 8 * 1024 * 1024;

type Planned = { readonly fn: OfferedFunction; readonly args: JsonObject } | { readonly problem: string };

/** Runs the calls of an answer within their limits, and remembers their sources and whether an output was private. */
export class GroundedCalls {
  readonly #options: Options;
  /** The sources of all calls that returned something. */
  readonly sources: OwnSource[] = [];
  readonly #byName: ReadonlyMap<string, OfferedFunction>;
  /** The calls that count for the limit, and all calls. */
  #started = 0;
  #planned = 0;
  /** The size that is left for further outputs. */
  readonly #left = { characters: 0, imageBytes: MAX_IMAGE_BYTES };
  readonly #answered = new Set<string>();
  #hasPrivateOutput = false;

  constructor(options: Options) {
    this.#options = options;
    this.#byName = new Map(options.functions.map((fn) => [fn.name, fn]));
    this.#left.characters = options.maxOutputChars * TOTAL_OUTPUTS;
  }

  /** Whether a tool of a private server has answered. A server counts as private if it was so at its call or is so now, because a reload may change it. */
  get hasPrivateOutput(): boolean {
    return this.#hasPrivateOutput || [...this.#answered].some((server) => !this.#isPublic(server));
  }

  /** The limit that is reached; undefined if another call is allowed. */
  get limit(): 'calls' | 'time' | undefined {
    if (this.#started >= this.#options.maxCalls) return 'calls';
    return this.#leftMs() >= RESERVED_MS ? undefined : 'time';
  }

  /** One output per call ID, in the order of the calls; `aborted` as soon as `signal` aborts, after which no further call starts. */
  async run(calls: readonly FunctionCall[], signal: AbortSignal): Promise<Round['outputs'] | 'aborted'> {
    const unique = calls.filter(({ callId }, index) => calls.findIndex((call) => call.callId === callId) === index);
    const asked = unique.map((call) => ({ callId: call.callId, parts: this.#plan(call) }));
    const waiting = asked.flatMap(({ parts }) => parts);
    const outputs = new Map<Planned, ToolOutput>();
    const runNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift())
        outputs.set(next, await this.#runOne(next, signal));
    };
    const ended = await untilAborted(Promise.all(Array.from({ length: CONCURRENT }, runNext)), signal);
    if (ended === 'aborted') return ended;
    return asked.map(({ callId, parts }) => {
      const ofCall = parts.flatMap((part) => outputs.get(part) ?? []);
      const text = ofCall.map(({ text }) => text).join('\n\n');
      return { callId, output: { text, images: ofCall.flatMap(({ images }) => images) } };
    });
  }

  /** Unwraps `parallel`, a function of the API itself that models sometimes call. Its calls run if all of them are offered. */
  #plan({ name, arguments: text, isIncomplete }: FunctionCall): readonly Planned[] {
    if (isIncomplete) return [{ problem: 'the call was cut off' }];
    const args = parseJson(text);
    if (!isObject(args)) return [{ problem: 'the arguments are not a JSON object' }];
    const fn = this.#byName.get(name);
    if (fn !== undefined) return [{ fn, args }];
    const uses: readonly unknown[] = name === 'parallel' && Array.isArray(args.tool_uses) ? args.tool_uses : [];
    const expanded = uses.filter(isObject).flatMap(({ recipient_name: recipient, parameters }) => {
      const used = this.#byName.get(String(recipient).replace(/^functions\./, ''));
      return used === undefined || !isObject(parameters) ? [] : [{ fn: used, args: parameters }];
    });
    const isComplete = uses.length > 0 && expanded.length === uses.length;
    return isComplete ? expanded : [{ problem: `there is no function ${name}` }];
  }

  async #runOne(planned: Planned, signal: AbortSignal): Promise<ToolOutput> {
    if ('problem' in planned) return toProblemOutput(planned.problem);
    const { answerGateway, clock, observer, maxCalls, request } = this.#options;
    if (answerGateway === undefined) throw new Error('a function was offered without a gateway');
    const { tool } = planned.fn;
    const { server, name } = tool;
    if (this.#started >= maxCalls) return toProblemOutput(`the limit of ${maxCalls} calls for an answer is reached`);
    const timeoutMs = this.#leftMs() - RESERVED_MS;
    if (timeoutMs <= 0) return toProblemOutput('there is no time left for this call');
    const turn = this.#planned;
    this.#planned += 1;
    this.#started += 1;
    const startedMs = clock.elapsedMs();
    observer.onProgress({ kind: 'calling', server, tool: name });
    const by = { ...request.by, door: 'answer' as const, requestId: undefined };
    const on = ({ kind }: CallEvent) => {
      if (kind === 'sent' && !isReadOnly(tool)) observer.onUsed?.({ effect: callName(tool) });
    };
    const asked = { server, tool: name, args: planned.args, by, timeoutMs, on };
    const outcome = await answerGateway.call(asked, signal);
    if (signal.aborted) return toProblemOutput('the call was cancelled');
    const ms = clock.elapsedMs() - startedMs;
    const failure = outcome.isErr() ? outcome.error.kind : undefined;
    const isSent = failure === undefined || failure === 'answer_failed' || TOOL_ERRORS[failure].isMade;
    if (isSent && !this.#isPublic(server)) this.#hasPrivateOutput = true;
    if (isSent) this.#answered.add(server);
    const ok = outcome.isOk() && !outcome.value.isError;
    // A call with arguments that do not match the schema was not sent, and does not count.
    if (failure === 'invalid_input') this.#started -= 1;
    else observer.onUsed?.({ toolCalls: [{ server, tool: name, ms, ok }] });
    const output = outcome.match(
      (result) => this.#toOutput(result, callName(tool), turn),
      (error) => this.#toFailedOutput(error),
    );
    const reason = ok ? undefined : (failure ?? 'tool_error');
    observer.onProgress({ kind: 'called', server, tool: name, ms, characters: output.text.length, reason });
    return output;
  }

  #toOutput(result: ToolResult, call: string, turn: number): ToolOutput {
    const { maxOutputChars, request, redactor } = this.#options;
    // Masked after the text was cleaned, because hidden characters could split a secret.
    if (result.isError) return toErrorOutput(redactor.inLogs(cleanText(textOf(result))));
    const sources = sourcesOf(result, call, turn, redactor.known);
    const shown = isLocal(request.by) ? sources : sources.map(withoutLocalPath);
    const max = { ...this.#left, characters: Math.min(maxOutputChars, this.#left.characters) };
    const { output, used } = toToolOutput(result, { call, sources: shown }, max, redactor.known);
    this.#left.characters -= used.characters;
    this.#left.imageBytes -= used.imageBytes;
    this.sources.push(...sources);
    return output;
  }

  /** The message for the model, without names of tools that are not offered, the last line of a server that was lost, and the words of an issuer. */
  #toFailedOutput(error: ToolError): ToolOutput {
    const { messageFor, redactor } = this.#options;
    const { kind } = error;
    if (kind === 'unknown_server' || kind === 'unknown_tool' || kind === 'answer_failed')
      return toProblemOutput('the tool is no longer available');
    if (error.kind === 'not_available' || error.kind === 'login_required') {
      const { reason: _, ...withoutReason } = error;
      return toProblemOutput(messageFor(withoutReason));
    }
    const message = redactor.inLogs(messageFor(error));
    return kind === 'invalid_input' ? toProblemOutput(message) : toErrorOutput(message);
  }

  #isPublic(server: string): boolean {
    return this.#options.answerGateway?.isPublic(server) === true;
  }

  #leftMs(): number {
    return this.#options.request.deadlineMs - this.#options.clock.elapsedMs();
  }
}
