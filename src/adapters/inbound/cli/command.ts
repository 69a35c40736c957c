import type { ToolName } from '../../../domain/answers/question.ts';
import type { BadUsage } from '../words/process-messages.ts';
import type { CallWords, CheckOptions } from './command-words.ts';

/** Options about the configuration, by name; a bare `--debug` has the value ''. One that is given again has a list. */
export type ConfigOptions = Readonly<Record<string, string | readonly string[]>>;

export interface Ask {
  readonly kind: 'ask';
  readonly tool: ToolName;
  /** Undefined if it is read from standard input. */
  readonly question: string | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** The running gateway that is used, if any, and the variable with its token. */
export interface Running {
  readonly url?: string | undefined;
  readonly tokenVariable?: string | undefined;
}

export interface Call extends CallWords, Running {
  readonly json: boolean;
  /** The time limit of the call; undefined if it is that of the server. */
  readonly timeoutMs: number | undefined;
  /** The folder for images, audio and other data. */
  readonly save: string | undefined;
  /** No person is asked what a server wants to know. */
  readonly noInput?: true;
}

type Configured =
  | Ask
  | { readonly kind: 'show-config' }
  | { readonly kind: 'serve' | 'serve-http'; readonly showConfig: boolean }
  | { readonly kind: 'doctor'; readonly json: boolean }
  | ({ readonly kind: 'check' } & CheckOptions)
  /** Without an action, the tools are listed; `isFresh`: every server is asked for them. */
  | (Running & {
      readonly kind: 'tools';
      readonly json: boolean;
      readonly action?: 'lock' | 'diff';
      readonly isFresh?: boolean;
      /** Only this server, or this tool of it, is shown. */
      readonly server?: string | undefined;
      readonly tool?: string | undefined;
    })
  | { readonly kind: 'login'; readonly server: string; readonly noBrowser: boolean }
  | { readonly kind: 'logins'; readonly json: boolean }
  | { readonly kind: 'logout'; readonly server: string | undefined; readonly caller: string | undefined }
  | (Call & { readonly kind: 'call' });

export type Command =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'token'; readonly caller: string }
  | (Configured & { readonly options: ConfigOptions })
  | ({ readonly kind: 'bad-usage' } & BadUsage);
