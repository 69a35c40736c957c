import type { Application } from '../../../application/application.ts';
import { NEVER } from '../../../application/deadline.ts';
import type { Check } from '../../../application/diagnose-setup.ts';
import type { Gateway } from '../../../application/gateway.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { cleanLine } from '../../../domain/clean-text.ts';
import type { GroundingPolicy } from '../../../domain/grounding.ts';
import { type ModelProfiles, profileFor } from '../../../domain/model-profile.ts';
import { keyProblem, type Redactor, withoutKeyLike } from '../../../domain/redaction.ts';
import { TOOL_NAMES } from '../../../domain/tool-name.ts';
import { withoutUnsafeCharacters } from '../../../domain/unsafe-characters.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { messageForProblem } from '../words/config-problems.ts';
import { messageFor } from '../words/error-messages.ts';
import { type CheckedOAuth, checkOAuth } from './check-oauth.ts';
import { type CheckedQuota, checkQuota } from './check-quota.ts';
import { LiveLine, type Terminal } from './live-line.ts';

interface PrintOptions {
  readonly json: boolean;
  readonly out: (text: string) => void;
}

type Servers = Pick<Gateway, 'servers' | 'tools' | 'whenStarted'>;

export interface DoctorOptions extends PrintOptions {
  readonly application: Pick<Application, 'diagnoseSetup'>;
  readonly redactor: Redactor;
  /** Where the configuration was read from, for people. */
  readonly configSources: string;
  /** What is not as configured, or probably mistyped. */
  readonly notices?: readonly ConfigProblem[];
  readonly apiKey: {
    readonly variable: string;
    readonly value?: string | undefined;
    /** Other users of this machine can read the file that contains it. */
    readonly isShared?: boolean | undefined;
  };
  /** Others on the network can read what is sent to the API. */
  readonly isUnencrypted?: boolean | undefined;
  readonly isOffline: boolean;
  /** Undefined if no servers are configured. */
  readonly gateway: Servers | undefined;
  readonly grounding: GroundingPolicy | undefined;
  /** Undefined if nothing is limited. */
  readonly quota?: CheckedQuota | undefined;
  /** Undefined if no authorization server is configured. */
  readonly oauth?: CheckedOAuth | readonly ConfigProblem[] | undefined;
  readonly profiles: ModelProfiles;
  readonly toolErrors: 'protocol' | 'result';
  /** Standard error, where progress is shown on a terminal. */
  readonly err?: Terminal;
  readonly clock: Clock;
}

/** A check; `todo` is what happened and what to do, if that is not the message for `error`. */
type PrintedCheck = Check & { readonly todo?: string };

/** The program does not start on a version that is too old. */
const NODE: Check = { name: 'node', verdict: 'ok', detail: process.versions.node };
const CHECKING = 'Checking';
const KEY_DETAILS = { no_api_key: 'missing', placeholder_api_key: 'a placeholder', malformed_api_key: 'malformed' };
const MARKS = { ok: 'ok', note: 'note', warning: 'WARN', failed: 'FAIL', skipped: 'skip', running: '' } as const;

/** Checks the way from this machine to an answer, one line per step. The exit code is 0 if nothing failed. Shows no key. */
export function doctor(options: DoctorOptions, signal: AbortSignal): Promise<number> {
  return print(withProgress(checks(options, signal), options), options, options.redactor.inLogs, signal);
}

/** Shows on a terminal which check is running: some take seconds. */
async function* withProgress(
  checks: AsyncGenerator<PrintedCheck>,
  { err, clock, json }: DoctorOptions,
): AsyncGenerator<PrintedCheck> {
  let running = CHECKING;
  for (;;) {
    const line = err?.isTTY === true && !json ? new LiveLine(err, clock) : undefined;
    line?.show(running);
    const next = await checks.next();
    line?.end();
    if (next.done === true) return;
    const isRunning = next.value.verdict === 'running';
    running = isRunning ? next.value.detail : CHECKING;
    if (!isRunning) yield next.value;
  }
}

/** Prints the problems of a configuration that cannot be used, each as a failed check. Returns the exit code. */
export function doctorOnProblems(problems: readonly ConfigProblem[], options: PrintOptions): Promise<number> {
  const failed = problems.map((problem): PrintedCheck => {
    return { name: 'configuration', verdict: 'failed', detail: 'invalid', todo: messageForProblem(problem) };
  });
  return print([NODE, ...failed], options, withoutKeyLike, NEVER);
}

async function* checks(options: DoctorOptions, signal: AbortSignal): AsyncGenerator<PrintedCheck> {
  const { application, configSources, notices = [], apiKey, isOffline } = options;
  yield NODE;
  yield { name: 'configuration', verdict: 'ok', detail: `valid (${configSources})` };
  for (const notice of notices) yield { name: 'configuration', verdict: 'warning', detail: messageForProblem(notice) };
  yield* checkSettings(options);
  yield* checkServers(options.gateway, signal);
  if (options.grounding !== undefined) yield* checkGrounding(options.gateway, options.grounding);
  if (options.quota !== undefined) yield await checkQuota(options.quota);
  if (options.oauth !== undefined) yield await checkOAuth(options.oauth, signal);
  if (isOffline) {
    const detail = 'offline: answers come from recordings, so no key and no network are needed';
    yield { name: 'adapter', verdict: 'ok', detail };
    return;
  }
  const key = checkKey(apiKey.variable, apiKey.value);
  yield key;
  yield* checkExposure(options);
  yield* application.diagnoseSetup(key.verdict === 'ok' ? undefined : `the key is ${key.detail}`, signal);
}

/** Who else can read the key. */
function* checkExposure({ apiKey, isUnencrypted }: DoctorOptions): Generator<PrintedCheck> {
  if (apiKey.isShared) {
    const detail = `other users of this machine can read the file that ${apiKey.variable} names: chmod 600 it`;
    yield { name: 'key file', verdict: 'warning', detail };
  }
  if (isUnencrypted) {
    const detail = 'http:// sends the key and the questions unencrypted; use https:// unless the network is private';
    yield { name: 'base_url', verdict: 'warning', detail };
  }
}

/** What works, but is probably not what the user wants (ruling A23). */
function* checkSettings({ profiles, toolErrors }: DoctorOptions): Generator<PrintedCheck> {
  const settings = TOOL_NAMES.map((tool) => JSON.stringify({ ...profileFor(tool, profiles), configured: undefined }));
  if (new Set(settings).size === 1) {
    const detail =
      'all tools use the same settings; MODEL_PROFILES=tuned makes answer_quick quick and answer_detailed detailed';
    yield { name: 'profiles', verdict: 'note', detail };
  }
  if (toolErrors === 'protocol') {
    const detail =
      'protocol: some clients do not show the reason of an error to their model; MCP_TOOL_ERRORS=result does';
    yield { name: 'tool_errors', verdict: 'note', detail };
  }
}

/** One line per server. Their starts are already in progress. */
async function* checkServers(gateway: Servers | undefined, signal: AbortSignal): AsyncGenerator<PrintedCheck> {
  if (gateway !== undefined) yield { name: 'servers', verdict: 'running', detail: 'Starting the servers' };
  await gateway?.whenStarted(Number.POSITIVE_INFINITY, signal);
  for (const { name, state, transport, tools, lastError } of gateway?.servers ?? []) {
    const isAvailable = state === 'available';
    const found = `${tools === 1 ? '1 tool' : `${tools} tools`} (${transport})`;
    const detail = isAvailable ? found : `${state}: ${cleanLine(lastError ?? 'no reason is known')}`;
    yield { name: `server ${name}`, verdict: isAvailable ? 'ok' : 'failed', detail };
  }
}

const WEB = {
  before: 'the model may search the web until a private tool has answered',
  never: 'the model never searches the web beside these tools',
} as const;

/** What is offered to the model, and what that means for private data (rulings L2, L3, L19). */
async function* checkGrounding(gateway: Servers | undefined, policy: GroundingPolicy): AsyncGenerator<PrintedCheck> {
  const { toOffer, unknownTools, RECOMMENDED_FUNCTIONS, MAX_FUNCTIONS } = await import('../../../domain/grounding.ts');
  const { servers = [], tools = [] } = gateway ?? {};
  const { functions, tooLarge } = toOffer(tools, policy);
  const available = servers.filter(({ state }) => state === 'available').map(({ name }) => name);
  const unavailable = Object.keys(policy.tools).filter((server) => !available.includes(server));
  const unknown = unknownTools(policy, tools, unavailable);
  const names = functions.map(({ tool }) => `${tool.server}/${tool.name}`);
  const list = `offers ${names.length} ${names.length === 1 ? 'tool' : 'tools'} to the model: ${names.join(', ') || 'none'}`;
  const isTooMany = names.length > MAX_FUNCTIONS;
  const advice = [
    names.length > RECOMMENDED_FUNCTIONS ? `; OpenAI recommends at most ${RECOMMENDED_FUNCTIONS}` : '',
    unknown.length > 0 ? `; there is no tool ${unknown.join(', ')} (grounding.tools)` : '',
    tooLarge.length > 0 ? `; the schema of ${tooLarge.join(', ')} is too large` : '',
  ].join('');
  yield {
    name: 'grounding',
    verdict: isTooMany ? 'failed' : names.length === 0 || advice !== '' ? 'warning' : 'ok',
    detail: isTooMany ? `${list}; the API accepts ${MAX_FUNCTIONS}` : `${list}${advice}`,
  };
  if (policy.web !== 'always')
    yield { name: 'grounding.web', verdict: 'ok', detail: `${policy.web}: ${WEB[policy.web]}` };
  else {
    const detail =
      'always: what a private tool returned can leave this machine in a web search or in the address of a page';
    yield { name: 'grounding.web', verdict: 'warning', detail };
  }
}

async function print(
  checks: AsyncIterable<PrintedCheck> | Iterable<PrintedCheck>,
  { json, out }: PrintOptions,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<number> {
  const printed: object[] = [];
  let isOk = true;
  for await (const { name, verdict, error, ...check } of checks) {
    if (signal.aborted) return INTERRUPTED;
    // Names of tools are texts of their servers.
    const detail = redact(withoutUnsafeCharacters(check.detail));
    // A refused lookup of a model is only a warning.
    const lookup = verdict === 'warning' ? ' Answers do not need this permission.' : '';
    const advice = error === undefined ? check.todo : messageFor(error) + lookup;
    const todo = advice === undefined ? undefined : redact(advice);
    isOk &&= verdict !== 'failed';
    printed.push({ name, verdict, detail, todo });
    if (!json) out(`${MARKS[verdict].padEnd(4)}  ${name}: ${todo ?? detail}\n`);
  }
  if (json) out(`${JSON.stringify({ ok: isOk, checks: printed }, undefined, 2)}\n`);
  return isOk ? SUCCEEDED : FAILED;
}

function checkKey(variable: string, value: string | undefined): Check {
  const kind = keyProblem(value);
  if (kind === undefined) return { name: 'key', verdict: 'ok', detail: `found in ${variable}` };
  return { name: 'key', verdict: 'failed', detail: KEY_DETAILS[kind], error: { kind, variable } };
}
