import type { Result } from 'neverthrow';
import type { Application } from '../../../application/answers/application.ts';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { LoginSummary } from '../../../application/ports/tool-server.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { ownerName } from '../../../domain/gateway/login-owner.ts';
import { advised, type OwnCommand, quoted } from '../../../domain/gateway/own-command.ts';
import { loginCommand } from '../../../domain/gateway/tool-call-error.ts';
import {
  type GroundingPolicy,
  MAX_FUNCTIONS,
  RECOMMENDED_FUNCTIONS,
  servesNoCaller,
  toOffer,
  unknownTools,
} from '../../../domain/grounded/grounding.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import { count } from '../words/plain.ts';
import { messageForProblem, noGroundedCaller, OPEN } from '../words/process-messages.ts';
import { loginName, loginWords, startingWords } from '../words/server-messages.ts';
import { type DoctorCheck, type Finding, ok, type Servers, withWarnings } from './doctor.ts';

/** The API key of the configuration. */
export interface CheckedKey {
  readonly variable: string;
  readonly value?: string | undefined;
  /** Whether other users of this machine can read the file that contains the key. */
  readonly isShared?: boolean | undefined;
  /** The command that prints it. */
  readonly command?: string | undefined;
  /** Reads the key of a file or a command. */
  readonly read?: ((signal: AbortSignal) => Promise<Result<string, SearchError>>) | undefined;
}

/** The login of a person, a server at which the gateway signs in without one, or callers who have not signed in. */
export type CheckedLogin =
  | (LoginSummary & {
      /** Whether it belongs to a caller who does not exist. */
      readonly isOfNobody?: boolean | undefined;
    })
  | { readonly server: string; readonly without: readonly string[]; readonly signInUrl: string | undefined }
  | {
      readonly server: string;
      readonly grant: string;
      readonly clientId: string | undefined;
      readonly login?: LoginSummary | undefined;
    };

/** Always ok: the program does not start on a version that is too old. */
export const NODE: DoctorCheck = { name: 'node', run: () => ok(process.versions.node) };

/** A configuration that can be used; `notices` are about values that are not used as configured, or are probably mistyped. */
export function checkConfiguration(sources: string, notices: readonly ConfigProblem[]): DoctorCheck {
  const warnings = notices.map((notice): Finding => ({ verdict: 'warning', detail: messageForProblem(notice) }));
  return { name: 'configuration', run: () => [ok(`valid (${sources})`), ...warnings] };
}

/** A configuration that cannot be used. */
export function invalidConfiguration(problems: readonly ConfigProblem[], name = 'configuration'): DoctorCheck {
  const failed = { verdict: 'failed', detail: 'invalid' } as const;
  return {
    name,
    run: () => problems.map((problem) => ({ ...failed, todo: messageForProblem(problem) })),
  };
}

/** Notes variables that the configuration names and that are not set. */
export function checkVariables(unset: readonly ConfigProblem[]): DoctorCheck {
  return {
    name: 'variable',
    run: () => unset.map((problem) => ({ verdict: 'note', detail: messageForProblem(problem) })),
  };
}

interface CheckedSettings {
  /** Whether the section `http` is used, and its endpoint would require no token. */
  readonly isOpenToMachine: boolean;
  readonly prices?: {
    /** The date of the list prices, if they may be out of date. */
    readonly oldList?: string | undefined;
    /** The models of the profiles without a price. */
    readonly unpriced: readonly string[];
  };
}

/** Notes on values that work, but are probably not what the user wants. */
export function checkSettings({ isOpenToMachine, prices }: CheckedSettings): DoctorCheck {
  const { oldList, unpriced = [] } = prices ?? {};
  const note = (name: string, detail: string): Finding => ({ name, verdict: 'note', detail });
  const notes = [
    isOpenToMachine ? note('http', OPEN) : [],
    oldList === undefined ? [] : note('prices', `the list prices are of ${oldList}; ${OWN_PRICES}`),
    unpriced.length === 0 ? [] : note('prices', `no price is known for ${unpriced.join(', ')}; ${OWN_PRICES}`),
  ];
  return { name: 'settings', run: () => notes.flat() };
}

const OWN_PRICES = 'write the current ones into prices of the configuration, to know what answers cost';
/** Waits until the servers, which are already starting, have started, and finds the state of each. At those of `perCaller`, others may be signed in. */
export function checkServers(gateway: Servers, perCaller: readonly string[] = []): DoctorCheck {
  async function* run(signal: AbortSignal): AsyncGenerator<Finding> {
    yield { verdict: 'running', detail: '', now: () => startingWords(gateway.servers) };
    await gateway.whenStarted(Number.POSITIVE_INFINITY, signal);
    for (const { name, state, transport, tools, lastError } of gateway.servers) {
      const isFailed = state !== 'login_required' || !perCaller.includes(name);
      const finding: Finding =
        state === 'available'
          ? ok(`${count(tools, 'tool')} (${transport})`)
          : {
              verdict: isFailed ? 'failed' : 'note',
              detail: `${state}: ${cleanLine(lastError ?? 'no reason is known')}`,
            };
      yield { ...finding, name: `server ${name}` };
    }
    for (const { name: server, problems, difference } of gateway.listed) {
      const name = `server ${server}`;
      for (const detail of problems) yield { name, verdict: 'warning', detail };
      if (difference !== undefined)
        yield { name, verdict: 'note', detail: `its tools have changed since its last start (${difference})` };
    }
  }
  return { name: 'servers', run };
}

/** Checks the logins, which are read when the servers have started, because they renew them. */
export function checkLogins(read: () => Promise<readonly CheckedLogin[]>, ownCommand?: OwnCommand): DoctorCheck {
  const toFinding = (login: CheckedLogin) => ({
    ...loginFinding(login, ownCommand),
    name: `login ${loginName(login)}`,
  });
  return { name: 'logins', run: async () => (await read()).map(toFinding) };
}

function loginFinding(login: CheckedLogin, ownCommand: OwnCommand | undefined): Finding {
  if ('clientId' in login) {
    const [as, held] = [`as the client ${login.clientId}, without a person (${login.grant})`, login.login];
    return held ? ok(`${as}: ${loginWords(held)}`) : { verdict: 'warning', detail: `${as}; no token` };
  }
  if ('without' in login) {
    const { without, signInUrl: url } = login;
    return {
      verdict: 'note',
      detail: `${without.join(', ')} ${without.length === 1 ? 'has' : 'have'} none${url === undefined ? '' : `; callers sign in at ${url}`}`,
    };
  }
  const { server, owner } = login;
  const isOfThisMachine = owner === undefined || owner.kind === 'local';
  const end = owner && advised(`logout ${server} --caller ${quoted(ownerName(owner))}`, ownCommand);
  return withWarnings(loginWords(login), [
    ...(login.renewable || !isOfThisMachine
      ? []
      : [`it cannot be renewed, so sign in again when it ends: ${loginCommand(server, ownCommand)}`]),
    ...(login.isOfNobody ? [`this caller does not exist; end it with: ${end}`] : []),
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
export function checkGrounding(policy: GroundingPolicy, gateway: Servers | undefined): DoctorCheck {
  return { name: 'grounding', run: () => [offered(policy, gateway), webUse(policy), callers(policy)].flat() };
}

function offered(policy: GroundingPolicy, gateway: Servers | undefined): Finding {
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
  return names.length > MAX_FUNCTIONS
    ? { verdict: 'failed', detail: `${list}; the API accepts at most ${MAX_FUNCTIONS}` }
    : { verdict: names.length === 0 || advice !== '' ? 'warning' : 'ok', detail: `${list}${advice}` };
}

function webUse({ web }: GroundingPolicy): Finding {
  return { name: 'grounding.web', verdict: web === 'always' ? 'warning' : 'ok', detail: `${web}: ${WEB[web]}` };
}

function callers(policy: GroundingPolicy): readonly Finding[] {
  // Which callers there are is known only while HTTP is served.
  if (!servesNoCaller(policy, true)) return [];
  return [{ name: 'grounding.callers', verdict: 'note', detail: noGroundedCaller(false) }];
}

/** Answers come from recordings. */
export const RECORDINGS: DoctorCheck = {
  name: 'adapter',
  run: () => ok('offline: answers come from recordings, so no key and no network are needed'),
};

const KEY_DETAILS = { no_api_key: 'missing', placeholder_api_key: 'a placeholder', malformed_api_key: 'malformed' };
const UNENCRYPTED = 'http:// sends the key and the questions unencrypted; use https:// unless the network is private';

interface CheckedApi {
  readonly application: Pick<Application, 'diagnoseSetup'>;
  readonly key: CheckedKey;
  /** Whether others on the network can read what is sent to the API. */
  readonly isUnencrypted: boolean;
  readonly hasServers: boolean;
}

/** Checks the key, who else can read it, and whether the API accepts it. */
export function checkApi({ application, key, isUnencrypted, hasServers }: CheckedApi): DoctorCheck {
  const { variable } = key;
  async function* run(signal: AbortSignal): AsyncGenerator<Finding> {
    const read = await key.read?.(signal);
    if (read?.isErr() && read.error.kind !== 'aborted') {
      yield { verdict: 'failed', detail: 'not read', error: read.error };
      yield* application.diagnoseSetup('the key could not be read', signal);
      return;
    }
    const kind = keyProblem(read?.isOk() ? read.value : key.value);
    if (kind === 'no_api_key' && hasServers) {
      yield { verdict: 'note', detail: `${variable} is not set, ${NO_ANSWERS}` };
      return;
    }
    yield kind === undefined
      ? ok(placeOfKey(key))
      : { verdict: 'failed', detail: KEY_DETAILS[kind], error: { kind, variable } };
    const file = `other users of this machine can read the file that ${variable} names: run chmod 600 on it`;
    if (key.isShared) yield { name: 'key file', verdict: 'warning', detail: file };
    if (isUnencrypted) yield { name: 'base_url', verdict: 'warning', detail: UNENCRYPTED };
    yield* application.diagnoseSetup(kind && `the key is ${KEY_DETAILS[kind]}`, signal);
  }
  return { name: 'key', run };
}

function placeOfKey({ variable, command }: CheckedKey): string {
  return command === undefined ? `found in ${variable}` : `found (command ${command})`;
}

const NO_ANSWERS = 'so the answer tools are not offered; the tools of servers need no key';
