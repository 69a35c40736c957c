import type { LoadedServers } from '../../../application/gateway/loaded-servers.ts';
import type { CallerLogins } from '../../../application/ports/caller-logins.ts';
import type { TokenOwner, TokenVerifier } from '../../../application/ports/callers.ts';
import type { PersonSignIn } from '../../../application/ports/person-sign-in.ts';
import type { Services } from '../../../application/ports/services.ts';
import type { QuotaGuard } from '../../../application/quota/quota-guard.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import type { Rights } from '../../../domain/gateway/call-origin.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { McpSessionOptions } from '../mcp/session.ts';
import type { CallerPlaces } from './calls.ts';
import type { Metrics } from './metrics.ts';

/** The endpoint as the section `http` configures it. */
interface Endpoint {
  /** The host name or address on which the server listens. */
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The path of the MCP endpoint. */
  readonly path: string;
  /** Host names other than those of this machine; `*` is any. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Without tokens and `oauth` at the start, callers need no token. */
  readonly requiresToken: boolean;
  /** Shorter tokens are refused: the length of a token is not known from its hash. */
  readonly minTokenLength: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxCallsPerToken: number;
  readonly drainMs: number;
}

/** The facts that clients need to get a token, and the verifier that checks it. */
export interface OAuthOptions {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly verifier: TokenVerifier;
}

/** What callers need to sign in to servers. */
export interface LoginServices {
  readonly logins: CallerLogins;
  /** The names of the servers at which each caller signs in, as they are now. */
  readonly servers: () => readonly string[];
  /** How callers without a configured token prove in a browser who they are. */
  readonly people?: PersonSignIn | undefined;
  /** The origin under which browsers reach the endpoint. Its port is 0 if the endpoint listens on any free one. */
  readonly publicUrl: string;
  /** The folder with the files of the pages. */
  readonly folder: string;
}

/** Everything of which the endpoint is made: handlers and checks get it as it is. */
export interface HttpServices
  extends Endpoint,
    Services,
    Omit<McpSessionOptions, 'by' | 'on' | 'subscriptions' | 'questions'> {
  readonly metrics: Metrics;
  /** Writes the entry of a request to the access log. A person who watches the log does not want to see routine ones. */
  readonly writeAccessLine: (entry: JsonObject, isRoutine: boolean) => void;
  readonly version: string;
  /** The current tokens of callers, by their SHA-256. */
  readonly tokens: () => readonly { readonly caller: string; readonly hash: Buffer }[];
  readonly oauth?: OAuthOptions | undefined;
  /** Returns what the owner of a token may use. */
  readonly rightsOf: (owner: TokenOwner) => Rights;
  /** Undefined if there is no daily limit. */
  readonly quota?: Pick<QuotaGuard, 'admit' | 'isReady'> | undefined;
  readonly servers: Pick<LoadedServers<never>, 'gateway' | 'isLoading' | 'whenLoaded'>;
  readonly catalogue: Pick<ToolCatalogue, 'call' | 'toolsFor'>;
  /** Contains the tool that `POST /mcp/check` calls; undefined without `citations.rest`. */
  readonly checks?: Pick<ToolCatalogue, 'call' | 'toolsFor'> | undefined;
  /** Whether there is a key, or recordings to answer from. */
  readonly canAnswer: boolean;
  /** What people should know about the configuration in effect. */
  readonly warnings?: (() => readonly string[]) | undefined;
  /** The time limit of an answer. */
  readonly answerTimeoutMs: number;
  /** Ends the calls that can be continued later, with a reply that says how. Returns whether there were any. */
  readonly endWaits?: (() => boolean) | undefined;
  /** The folder with the files of the page; undefined if the page is not served. */
  readonly pageFolder?: string | undefined;
  /** Undefined if callers cannot sign in to servers here. */
  readonly logins?: LoginServices | undefined;
}

/** The services of an endpoint that is serving. */
export interface Serving extends HttpServices {
  readonly places: CallerPlaces;
  readonly isDraining: () => boolean;
  /** The origin under which browsers reach the endpoint; only used with `logins`. */
  readonly publicUrl: () => string;
}
