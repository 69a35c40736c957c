import type { Config, ConfigProblem } from '../../../application/ports/config.ts';
import type { AccessPolicy } from '../../../domain/gateway/access.ts';
import type { GroundingPolicy } from '../../../domain/grounded/grounding.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { HttpConfig } from './http-config.ts';
import type { ConfigTree } from './keys.ts';
import type { Lock } from './named-files.ts';
import type { OAuthConfig } from './oauth-config.ts';
import type { ApiKey } from './secrets.ts';
import type { AuditConfig, QuotaConfig } from './sections.ts';
import type { ServerEntry } from './server-entry.ts';
import type { ReadFile } from './servers-file.ts';

/** The sections that the program uses as the keys set them. A new key of a section is a member by itself. */
type Sections = Pick<ConfigTree, 'request' | 'search' | 'policy' | 'citations' | 'llm' | 'gateway' | 'server'>;

/** The complete configuration, for the core and the adapters: sections, and what was read from the variables and files that keys name. */
export interface ServerConfig
  extends Sections,
    Pick<Config, 'profiles' | 'timeZone' | 'blockedDomains' | 'instructions' | 'longAnswers' | 'priceOf'> {
  readonly openai: ConfigTree['openai'] & ApiKey & { readonly proxy?: string };
  /** The URL of the proxy for pages. */
  readonly pageProxy?: string;
  /** Absent unless HTTP is served. */
  readonly http?: HttpConfig;
  /** The callers of the tokens over HTTP; absent without the section `http`. */
  readonly tokenCallers?: readonly string[];
  /** Absent if nothing is limited. */
  readonly quota?: QuotaConfig;
  /** Absent if no servers are configured. */
  readonly servers?: readonly ServerEntry[];
  /** The files of other clients that were read. */
  readonly serversFiles: readonly ReadFile[];
  readonly access?: AccessPolicy;
  readonly lock?: Lock;
  readonly audit?: AuditConfig;
  readonly grounding?: GroundingPolicy;
  /** Reads the section `http.oauth`, whose problems are otherwise reported only while HTTP is served. */
  readonly readOAuth: () => { readonly oauth: OAuthConfig | undefined; readonly problems: readonly ConfigProblem[] };
  /** How the section `http` would serve, for a check; undefined if it is not used. */
  readonly readHttp: () => Promise<CheckedHttp | undefined>;
  /** Problems that do not prevent the start: servers left out or renamed, variables that are probably mistyped, a key without effect. */
  readonly notices: readonly ConfigProblem[];
  /** The text of the YAML file, with which that of a reload is compared. */
  readonly text?: string;
  /** The files whose changes can be reloaded. */
  readonly files: readonly string[];
  /** The names of the variables that contain keys and tokens of this program. */
  readonly secretVariables: readonly string[];
  readonly secrets: { readonly own: readonly string[]; readonly ofServers: readonly string[] };
  readonly sources: ConfigSources;
  /** The output of `--show-config`, without keys. */
  readonly shown: () => { readonly version: string; readonly sources: ConfigSources; readonly effective: JsonObject };
}

/** The section `http`, as a check reads it while nothing is served. */
export interface CheckedHttp {
  /** Whether the endpoint would require no token. */
  readonly isOpenToMachine: boolean;
  /** The callers with a token; undefined if the file of tokens cannot be used. */
  readonly callers: readonly string[] | undefined;
  readonly issuer: string | undefined;
  readonly publicUrl: string | undefined;
  /** What is missing for the servers at which each caller signs in. */
  readonly problems: readonly ConfigProblem[];
}

/** The YAML file, and the variables and options that were used. */
interface ConfigSources {
  readonly ts_defaults: true;
  readonly yaml?: string;
  readonly env: readonly string[];
  readonly cli: readonly string[];
}
