import { type AccessPolicy, rightsBy } from '../../domain/gateway/access.ts';
import { EVERYTHING, type Rights, withoutAnswers } from '../../domain/gateway/call-origin.ts';
import { keyProblem } from '../../domain/values/redaction.ts';
import type { TokenOwner } from '../ports/callers.ts';

interface Named {
  readonly name: string;
}

/** The parts of the configuration that decide what clients are offered. */
interface Offer {
  readonly servers?: readonly Named[];
  /** The mode in which MCP clients see the tools of the servers, or false. */
  readonly gateway: { readonly expose: boolean | string };
  /** Present while HTTP is served. */
  readonly http?: object;
  readonly llm: { readonly adapter: string };
  /** With a source, the key is read when it is first needed. */
  readonly openai: { readonly apiKey?: string | undefined; readonly apiKeySource?: object | undefined };
}

/** Whether answers need a key that is missing or cannot be used. */
export function lacksKey({ llm, openai }: Pick<Offer, 'llm' | 'openai'>): boolean {
  return llm.adapter !== 'offline' && problemOf(openai) !== undefined;
}

/**
 * Whether clients get only the tools of servers, because there is no key for answers. On stdio, clients see servers only with `gateway.expose`;
 * without it, the answer tools stay, because there would be nothing else.
 */
export function isGatewayOnly({ servers = [], gateway, http, llm, openai }: Offer): boolean {
  const offersServers = servers.length > 0 && (http !== undefined || gateway.expose !== false);
  return offersServers && llm.adapter !== 'offline' && problemOf(openai) === 'no_api_key';
}

function problemOf({ apiKey, apiKeySource }: Offer['openai']) {
  return apiKey === undefined && apiKeySource !== undefined ? undefined : keyProblem(apiKey);
}

interface AnswerOffer<Server extends Named> extends Pick<Offer, 'gateway'> {
  readonly servers?: readonly Server[];
  readonly grounding?: { readonly tools: Readonly<Record<string, unknown>> };
}

/** The servers that answers of the user of this machine use, or all servers of this user if clients use them too. */
export function answerServers<Server extends Named>(
  { servers = [], grounding, gateway }: AnswerOffer<Server>,
  rights: Rights,
): readonly Server[] {
  const isUsed = (name: string) => gateway.expose !== false || Object.hasOwn(grounding?.tools ?? {}, name);
  return servers.filter(({ name }) => rights.sees(name) && isUsed(name));
}

type RightsOf = (owner: TokenOwner) => Rights;

interface OwnTools {
  /** Whether answers are offered at all. */
  readonly hasAnswers: boolean;
  /** The tools of the program that are offered without answers. */
  readonly otherTools: readonly string[];
}

/** What callers may use, by the section `access` as it is now. */
export class CallerRights {
  readonly #offer: OwnTools;
  #policy: AccessPolicy | undefined;
  #rightsOf: RightsOf;

  constructor(policy: AccessPolicy | undefined, offer: OwnTools) {
    this.#offer = offer;
    this.#policy = policy;
    this.#rightsOf = toRights(policy, offer);
  }

  get policy(): AccessPolicy | undefined {
    return this.#policy;
  }

  readonly of: RightsOf = (owner) => this.#rightsOf(owner);

  /** Applies another section `access`, or none. */
  apply(policy: AccessPolicy | undefined): void {
    this.#rightsOf = toRights(policy, this.#offer);
    this.#policy = policy;
  }
}

function toRights(policy: AccessPolicy | undefined, { hasAnswers, otherTools }: OwnTools): RightsOf {
  const rightsOf = policy === undefined ? () => EVERYTHING : rightsBy(policy);
  return hasAnswers ? rightsOf : (owner) => withoutAnswers(rightsOf(owner), otherTools);
}
