import type { Answer } from '../../../application/answers/answer.ts';
import type { Application } from '../../../application/answers/application.ts';
import type { TaskStatus } from '../../../application/answers/long-answers.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { LongAnswersConfig } from '../../../application/ports/config.ts';
import type { CallOrigin } from '../../../domain/gateway/call-origin.ts';
import { clip } from '../../../domain/values/clean-text.ts';
import { isObject } from '../../../domain/values/json.ts';
import { messageFor, TASK_NOT_FOUND, TASKS_NOT_DECLARED } from '../words/error-messages.ts';
import { progressMessage } from '../words/progress-messages.ts';
import { type PresentationOptions, toToolReply } from './answer-presentation.ts';
import { completeResult, META, type ServerInfo } from './era.ts';
import { INTERNAL, INVALID_PARAMS, invalidParams, metaOf, type Params } from './json-rpc.ts';
import type { Reply } from './tool-set.ts';

export interface TasksOptions extends PresentationOptions {
  /** The tasks of the application, which is loaded with the first question. */
  readonly load: () => Promise<Application>;
  readonly clock: Clock;
  readonly longAnswers: LongAnswersConfig;
  readonly serverInfo: ServerInfo;
}

/** The name of the extension. */
const TASKS = 'io.modelcontextprotocol/tasks';
const METHOD = /^tasks\/(?:get|update|cancel)$/;
const MISSING_CAPABILITY = -32021;
const MAX_LENGTH = 200;
/** How long clients should wait between two looks: in the first minute, and later. */
const POLL_MS = 5000;
const LATER_POLL_MS = 15_000;
const FIRST_MS = 60_000;

/** The MCP extension for tasks, as of 2026-07-28 (rulings K14 to K18). No other file knows it, because it may still change. */
export class Tasks {
  /** Members of the server's `capabilities`. */
  readonly capabilities = { extensions: { [TASKS]: {} } };
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** The part of a request's `_meta` that declares the extension; undefined if it does not. */
  declaredIn(meta: Params): Params | undefined {
    const declared = meta[META.clientCapabilities];
    const isDeclared = isObject(declared) && isObject(declared.extensions) && declared.extensions[TASKS] !== undefined;
    return isDeclared ? { [META.clientCapabilities]: this.capabilities } : undefined;
  }

  /** What the header `Mcp-Name` of a request must repeat; undefined for a method of others. */
  nameIn(method: string, { taskId }: Params): string | undefined {
    return METHOD.test(method) && typeof taskId === 'string' ? taskId : undefined;
  }

  /** The result of a call that becomes a task; undefined if the answer is finished. */
  async toTask({ report }: Answer, by: CallOrigin): Promise<Params | undefined> {
    const { state, handle } = report;
    if (state !== 'unfinished' || handle === undefined) return undefined;
    const status = await this.#status(handle, by, false);
    if (!('createdAt' in status)) return undefined;
    return { resultType: 'task', ...this.#describe(handle, status, 'working'), pollIntervalMs: POLL_MS };
  }

  /** The reply to a request; undefined for a method that the extension does not have. */
  async respond(method: string, params: Params, by: CallOrigin): Promise<Reply | undefined> {
    if (!METHOD.test(method)) return undefined;
    if (this.declaredIn(metaOf(params)) === undefined) {
      const data = { requiredCapabilities: this.capabilities };
      return { error: { code: MISSING_CAPABILITY, message: TASKS_NOT_DECLARED, data } };
    }
    const { taskId } = params;
    if (typeof taskId !== 'string') return { error: invalidParams('taskId must be a string') };
    if (method === 'tasks/cancel') {
      const isKnown = (await this.#tasks())?.cancelTask(taskId, by) === true;
      return isKnown ? { result: {} } : NOT_FOUND;
    }
    const status = await this.#status(taskId, by, method === 'tasks/get');
    if (status.state === 'unknown') return NOT_FOUND;
    if (method === 'tasks/update') return { result: {} };
    if (status.state === 'not_looked') {
      const { error } = status;
      const reason = error.kind === 'aborted' ? 'the request was cancelled' : messageFor(error);
      return { error: { ...INTERNAL, message: this.#options.redactor.inLogs(reason) } };
    }
    if (status.state !== 'ended') return { result: this.#describe(taskId, status, status.state) };
    const reply = toToolReply(status.answer, 'modern', this.#options);
    // A cancelled search has its own state, and a failure is a result in this era.
    const result = typeof reply === 'object' && 'result' in reply ? reply.result : {};
    const complete = completeResult(result, this.#options.serverInfo);
    return { result: { ...this.#describe(taskId, status, 'completed'), result: complete } };
  }

  async #status(taskId: string, by: CallOrigin, isReturned: boolean): Promise<TaskStatus> {
    return (await (await this.#tasks())?.taskStatus(taskId, by, isReturned)) ?? { state: 'unknown' };
  }

  async #tasks(): Promise<Application['tasks']> {
    return (await this.#options.load()).tasks;
  }

  #describe(taskId: string, status: Extract<TaskStatus, { readonly createdAt: Date }>, state: string): Params {
    const { clock, longAnswers, redactor } = this.#options;
    const { createdAt, updatedAt } = status;
    const isNew = clock.now().getTime() - createdAt.getTime() < FIRST_MS;
    const { latest = { kind: 'thinking' } as const, language } = status.state === 'working' ? status : {};
    return {
      taskId,
      status: state,
      statusMessage: language && clip(redactor.inLogs(progressMessage(latest, language)), MAX_LENGTH),
      createdAt: createdAt.toISOString(),
      lastUpdatedAt: updatedAt.toISOString(),
      ttlMs: longAnswers.maxMs + longAnswers.keepMs,
      pollIntervalMs: isNew ? POLL_MS : LATER_POLL_MS,
    };
  }
}

/** The part that others use. */
export type TaskExtension = Pick<Tasks, keyof Tasks>;

const NOT_FOUND: Reply = { error: { code: INVALID_PARAMS, message: TASK_NOT_FOUND } };
