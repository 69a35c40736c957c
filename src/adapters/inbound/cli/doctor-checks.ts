import type { Result } from 'neverthrow';
import type { Application } from '../../../application/answers/application.ts';
import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { LoginSummary } from '../../../application/ports/tool-server.ts';
import { type ModelProfiles, profileFor } from '../../../domain/answers/model-profile.ts';
import { TOOL_NAMES } from '../../../domain/answers/tool-name.ts';
import type { AccessPolicy } from '../../../domain/gateway/access.ts';
import type { ApprovedTools } from '../../../domain/gateway/approved-tools.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { loginCommand } from '../../../domain/gateway/tool-call-error.ts';
import {
  type GroundingPolicy,
  MAX_FUNCTIONS,
  RECOMMENDED_FUNCTIONS,
  toOffer,
  unknownTools,
} from '../../../domain/grounded/grounding.ts';
import { cleanLine, clip } from '../../../domain/values/clean-text.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import { count } from '../words/plain.ts';
import { messageForProblem, OPEN } from '../words/process-messages.ts';
import { loginWords } from '../words/server-messages.ts';
import { type Servers, toCheck, withWarnings } from './check.ts';
import { type CheckedAudit, type CheckedQuota, checkAccess, checkAudit, checkLock, checkQuota } from './team-checks.ts';

/** The setup to check. A part that is not configured is undefined. */
export interface CheckedSetup {
  readonly application: Pick<Application, 'diagnoseSetup'>;
  /** Where the configuration was read from, for people. */
  readonly configSources: string;
  /** Values that are not used as configured, or are probably mistyped. */
  readonly notices?: readonly ConfigProblem[];
  readonly apiKey: {
    readonly variable: string;
    readonly value?: string | undefined;
    /** Whether other users of this machine can read the file that contains the key. */
    readonly isShared?: boolean | undefined;
  };
  /** Whether others on the network can read what is sent to the API. */
  readonly isUnencrypted?: boolean | undefined;
  readonly isOffline: boolean;
  readonly gateway: Servers | undefined;
  readonly grounding: GroundingPolicy | undefined;
  readonly access?: AccessPolicy | undefined;
  readonly approved?: ApprovedTools | undefined;
  readonly audit?: CheckedAudit | undefined;
  readonly quota?: CheckedQuota | undefined;
  readonly oauth?: CheckedOAuth | undefined;
  /** Called when the servers have started, because they renew their logins. */
  readonly readLogins?: (() => Promise<readonly CheckedLogin[]>) | undefined;
  /** Whether the section `http` is used, and its endpoint would require no token. */
  readonly isOpenToMachine?: boolean;
  readonly profiles: ModelProfiles;
  readonly toolErrors: 'protocol' | 'result';
  /** How this person starts the program, which advised commands repeat. */
  readonly ownCommand?: OwnCommand | undefined;
}

/** The authorization server, or why the section `http.oauth` cannot be used. */
export type CheckedOAuth =
  | readonly ConfigProblem[]
  | {
      readonly issuer: string;
      readonly audience: string;
      /** Reads the published keys, and returns their number, or why they cannot be read. */
      readonly countKeys: (signal: AbortSignal) => Promise<Result<number, string>>;
    };

/** The login of a person, or a server at which the gateway signs in without one. */
export type CheckedLogin =
  | LoginSummary
  | {
      readonly server: string;
      readonly grant: string;
      readonly clientId: string | undefined;
      readonly login?: LoginSummary | undefined;
    };

/** Always ok: the program does not start on a version that is too old. */
export const NODE = toCheck('node', 'ok', process.versions.node);

/** Checks the way from this machine to an answer, step by step. */
export async function* checksOf(options: CheckedSetup, signal: AbortSignal): AsyncGenerator<Check> {
  const { gateway, grounding, access, approved, audit, quota, oauth } = options;
  yield NODE;
  yield toCheck('configuration', 'ok', `valid (${options.configSources})`);
  for (const notice of options.notices ?? []) yield toCheck('configuration', 'warning', messageForProblem(notice));
  yield* checkSettings(options);
  if (gateway !== undefined) yield* checkServers(gateway, signal);
  for (const login of (await options.readLogins?.()) ?? []) yield checkLogin(login, options.ownCommand);
  if (grounding !== undefined) yield* checkGrounding(gateway, grounding);
  if (access !== undefined) yield checkAccess(access, gateway);
  if (approved !== undefined) yield checkLock(approved, gateway, options.ownCommand);
  if (audit !== undefined) yield checkAudit(audit);
  if (quota !== undefined) yield await checkQuota(quota);
  if (oauth !== undefined) yield await checkOAuth(oauth, signal);
  if (options.isOffline) yield toCheck('adapter', 'ok', OFFLINE);
  else yield* checkApi(options, signal);
}

const OFFLINE = 'offline: answers come from recordings, so no key and no network are needed';
const KEY_DETAILS = { no_api_key: 'missing', placeholder_api_key: 'a placeholder', malformed_api_key: 'malformed' };
const UNENCRYPTED = 'http:// sends the key and the questions unencrypted; use https:// unless the network is private';

/** Checks the key, who else can read it, and whether the API accepts it. */
async function* checkApi(
  { application, apiKey, isUnencrypted, gateway }: CheckedSetup,
  signal: AbortSignal,
): AsyncGenerator<Check> {
  const { variable } = apiKey;
  const kind = keyProblem(apiKey.value);
  if (kind === 'no_api_key' && gateway !== undefined) {
    yield toCheck(
      'key',
      'note',
      `${variable} is not set, so the answer tools are not offered; the tools of servers need no key`,
    );
    return;
  }
  if (kind === undefined) yield toCheck('key', 'ok', `found in ${variable}`);
  else yield { ...toCheck('key', 'failed', KEY_DETAILS[kind]), error: { kind, variable } };
  const file = `other users of this machine can read the file that ${variable} names: run chmod 600 on it`;
  if (apiKey.isShared) yield toCheck('key file', 'warning', file);
  if (isUnencrypted) yield toCheck('base_url', 'warning', UNENCRYPTED);
  yield* application.diagnoseSetup(kind && `the key is ${KEY_DETAILS[kind]}`, signal);
}

/** Notes on values that work, but are probably not what the user wants. */
export function* checkSettings({
  profiles,
  toolErrors,
  isOpenToMachine,
}: Pick<CheckedSetup, 'profiles' | 'toolErrors' | 'isOpenToMachine'>) {
  const settings = TOOL_NAMES.map((tool) => JSON.stringify({ ...profileFor(tool, profiles), configured: undefined }));
  if (new Set(settings).size === 1) yield toCheck('profiles', 'note', EQUAL_PROFILES);
  if (toolErrors === 'protocol') yield toCheck('tool_errors', 'note', PROTOCOL_ERRORS);
  if (isOpenToMachine) yield toCheck('http', 'note', OPEN);
}

const EQUAL_PROFILES =
  'all tools use the same settings; MODEL_PROFILES=tuned makes answer_quick quick and answer_detailed detailed';
const PROTOCOL_ERRORS =
  'protocol: some clients do not show their model why a call failed; with MCP_TOOL_ERRORS=result, they do';

/** Waits until the servers, which are already starting, have started, and yields a check for each. */
async function* checkServers(gateway: Servers, signal: AbortSignal) {
  yield toCheck('servers', 'running', 'Starting the servers');
  await gateway.whenStarted(Number.POSITIVE_INFINITY, signal);
  for (const { name, state, transport, tools, lastError } of gateway.servers) {
    yield state === 'available'
      ? toCheck(`server ${name}`, 'ok', `${count(tools, 'tool')} (${transport})`)
      : toCheck(`server ${name}`, 'failed', `${state}: ${cleanLine(lastError ?? 'no reason is known')}`);
  }
  for (const { name, problems, difference } of gateway.listed) {
    for (const problem of problems) yield toCheck(`server ${name}`, 'warning', problem);
    if (difference !== undefined)
      yield toCheck(`server ${name}`, 'note', `its tools have changed since its last start (${difference})`);
  }
}

function checkLogin(login: CheckedLogin, ownCommand: OwnCommand | undefined): Check {
  const name = `login ${login.server}`;
  if ('clientId' in login) {
    const [as, held] = [`as the client ${login.clientId}, without a person (${login.grant})`, login.login];
    return held ? toCheck(name, 'ok', `${as}: ${loginWords(held)}`) : toCheck(name, 'warning', `${as}; no token`);
  }
  return withWarnings(name, loginWords(login), [
    ...(login.renewable
      ? []
      : [`it cannot be renewed, so sign in again when it ends: ${loginCommand(login.server, ownCommand)}`]),
    ...(login.isShared ? [SHARED_LOGIN] : []),
  ]);
}

const SHARED_LOGIN =
  'other users of this machine have access to it: run chmod 700 on the folder gateway.logins, and chmod 600 on its files';

/** The use of the web by each value of `grounding.web`, and what it means for private data. */
const WEB = {
  before: 'the model may search the web until a private tool has answered',
  never: 'the model never searches the web in answers with these tools',
  always: 'what a private tool returned can leave this machine in a web search or in the address of a page',
} as const;

/** Checks which tools are offered to the model, and when it may search the web. */
function* checkGrounding(gateway: Servers | undefined, policy: GroundingPolicy) {
  const { servers = [], tools = [], changed = [] } = gateway ?? {};
  const { functions, tooLarge } = toOffer(tools, policy);
  const available = servers.filter(({ state }) => state === 'available').map(({ name }) => name);
  const unavailable = Object.keys(policy.tools).filter((server) => !available.includes(server));
  const unknown = unknownTools(policy, [...tools, ...changed], unavailable);
  const names = functions.map(({ tool }) => `${tool.server}/${tool.name}`);
  const list = `offers ${count(names.length, 'tool')} to the model: ${names.join(', ') || 'none'}`;
  const advice = [
    names.length > RECOMMENDED_FUNCTIONS ? `; OpenAI recommends at most ${RECOMMENDED_FUNCTIONS}` : '',
    unknown.length > 0 ? `; there is no tool ${unknown.join(', ')} (grounding.tools)` : '',
    tooLarge.length > 0 ? `; the schema of ${tooLarge.join(', ')} is too large` : '',
  ].join('');
  yield names.length > MAX_FUNCTIONS
    ? toCheck('grounding', 'failed', `${list}; the API accepts at most ${MAX_FUNCTIONS}`)
    : toCheck('grounding', names.length === 0 || advice !== '' ? 'warning' : 'ok', `${list}${advice}`);
  yield toCheck('grounding.web', policy.web === 'always' ? 'warning' : 'ok', `${policy.web}: ${WEB[policy.web]}`);
}

/** Maximum length of a reason, which may contain text of the issuer. */
const MAX_REASON = 500;

/** Checks that the keys that verify access tokens can be read. */
async function checkOAuth(oauth: CheckedOAuth, signal: AbortSignal): Promise<Check> {
  if (!('issuer' in oauth)) return toCheck('oauth', 'failed', oauth.map(messageForProblem).join('; '));
  const { issuer, audience, countKeys } = oauth;
  const counted = await countKeys(signal);
  if (counted.isErr()) {
    const reason = clip(counted.error, MAX_REASON);
    const detail = `the keys of ${issuer} cannot be read, so access tokens are refused (${reason}). Check http.oauth.issuer, and whether this machine can reach it`;
    return toCheck('oauth', 'failed', detail);
  }
  const detail = `${issuer} publishes ${count(counted.value, 'key')}; tokens must be for ${audience}`;
  return toCheck('oauth', counted.value === 0 ? 'failed' : 'ok', detail);
}
