import type { Result } from 'neverthrow';
import type { TraceContext } from '../../domain/gateway/call-origin.ts';
import type { Elicitation, ElicitationAnswer, NotAnswered, Retry } from '../../domain/gateway/elicitation.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { InputRequests } from '../../domain/gateway/input-requests.ts';
import type { LoginOwner } from '../../domain/gateway/login-owner.ts';
import type { LeftOut, SharedEntry, SharedList } from '../../domain/gateway/shared-entries.ts';
import type { SchemaError, ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import type { Kind } from '../../domain/values/kind.ts';

/** Lists other than that of tools. Templates belong to resources. */
export type ChangingList = 'resources' | 'prompts';
/** Called when a server reports such a list as changed. Without a listener, servers are not asked for these reports. */
export type OnListChanged = (server: string, list: ChangingList) => void;

/** Receives the events of a connected server. Must not throw. */
export interface ServerEvents {
  onToolsChanged(): void;
  readonly onListChanged?: ((list: ChangingList) => void) | undefined;
  /**
   * The process or the connection has ended. Called once, unless `close` was called first. Later calls fail with `crashed`. The last line of a process
   * may contain the input of a call.
   */
  onLost(reason: string, lastLine?: string): void;
}

/** Progress of a call, as the server reports it (MCP, notifications/progress). */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** The tools of a server, and what it listed that is no tool. */
export interface ListedTools {
  readonly tools: readonly GatewayTool[];
  readonly leftOut: readonly LeftOut[];
}

/** The caller of a tool, as far as its server may ask questions. The members never reject or throw. */
export interface AskedCaller {
  /** Different for each caller. A question of a server whose call is not known is asked only if all calls on the connection are of this caller. */
  readonly caller: string;
  /** What the caller can be asked, as clients declare it in MCP. A server of 2026-07-28 gets it with the call. */
  readonly declared: JsonObject;
  canBeAsked(mode: Elicitation['mode']): boolean;
  ask(elicitation: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** Called for a question that is not asked. `request`: undefined if it may be that of another caller. `elicitation`: undefined if it cannot be read. */
  onRefused(why: NotAnswered, request?: JsonObject, elicitation?: Elicitation): void;
  /** Called when the call waits, because a question to another caller is open. */
  onWaiting(): void;
  /** What a server asked by a URL is done. */
  onCompleted(elicitationId: string): void;
}

/** The caller of another request, who is never asked, but notified that its server has asked. */
export type NotifiedCaller = Pick<AskedCaller, 'onRefused'>;

/** The result of a call. With `asks`, the server wants the call to be sent again, with answers if it has requests; there is no content. */
export interface ServerResult extends ToolResult {
  readonly asks?: InputRequests;
}

/** A running server: a child process, or a connection to another machine. */
export interface ServerConnection {
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly pid: number | undefined;
  readonly protocolVersion: string | undefined;
  /** The server's description of itself (MCP, `serverInfo`). */
  readonly serverInfo: JsonObject | undefined;
  /** The declared capabilities (MCP, `capabilities`). */
  readonly capabilities: JsonObject;
  /** The complete list, from all pages. A list of more than 1,000 tools is an `invalid_result`. Never rejects. */
  listTools(signal: AbortSignal): Promise<Result<ListedTools, ToolServerError>>;
  /**
   * Never rejects, and settles soon after `signal` aborts, whatever the server does; the server is notified of the cancellation. A call
   * is sent at most once. If the server is lost, calls in flight fail with `crashed` within 100 ms. Without `onProgress`, the server is not
   * asked for progress.
   */
  callTool(
    name: string,
    args: JsonObject,
    options: {
      readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
      /** The trace context for the server. Baggage is sent only if that is configured. */
      readonly trace?: TraceContext | undefined;
      /** The schema of the tool, which can mark arguments that a remote server also needs as headers (SEP-2243). */
      readonly inputSchema?: JsonObject | undefined;
      /** Without it, a question of the server gets `cancel`. */
      readonly asked?: AskedCaller | undefined;
      /** Only servers of MCP 2026-07-28 get it. */
      readonly retry?: Retry | undefined;
    },
    signal: AbortSignal,
  ): Promise<Result<ServerResult, ToolServerError>>;
  /** Whether the server asks by the result of a call, as in MCP 2026-07-28, and gets the answers with the next call. */
  readonly asksByResult: boolean;
  /** Like `listTools`, for another list of MCP: `method` requests it, and its result has it in `member`. */
  list(method: string, member: string, signal: AbortSignal): Promise<Result<readonly unknown[], ToolServerError>>;
  /** Like `callTool`, for another request of MCP. */
  request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    asked?: Pick<AskedCaller, 'caller' | 'declared'> & NotifiedCaller & { readonly retry?: Retry | undefined },
  ): Promise<Result<JsonObject, ToolServerError>>;
  /** Ends the server, with its complete process tree. Calls in flight fail. Resolves when nothing is left. */
  close(): Promise<void>;
}

/** The login of a person to a remote server. */
export interface ServerLogin {
  /** Why a person must sign in, with the command, as the part of a sentence after the server's name. A connection ends when its login does. */
  readonly required: string | undefined;
  /** Why the issuer refused the last login, for people. */
  readonly refusal?: string | undefined;
  /** Notifies of a new, replaced or deleted login, and of a renewed one while a login is required. Returns a function that removes the listener. */
  onChanged(listener: () => void): () => void;
}

/** An MCP server that can be started any number of times. */
export interface ToolServer {
  /** Starts the server. Never rejects; an error is the reason, for people. After `signal` aborts, it settles soon and leaves nothing. */
  connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>>;
  /** Absent if the server never needs one. */
  readonly login?: ServerLogin | undefined;
}

/** The description that a server gave of itself when it last ran. */
export interface Definitions {
  /** Undefined if that is not known. */
  readonly listedAt?: Date | undefined;
  /** All tools, also those that a filter hides. */
  readonly tools: readonly GatewayTool[];
  /** Undefined if that is not known. */
  readonly capabilities?: JsonObject | undefined;
  readonly serverInfo?: JsonObject | undefined;
  /** What the server listed that clients do not get. */
  readonly leftOut?: readonly LeftOut[] | undefined;
  /** The other lists of the server, without those that could not be read. */
  readonly shared: Readonly<Partial<Record<SharedList, readonly SharedEntry[]>>>;
}

/**
 * Keeps the descriptions of servers, so that their lists are known before they start. Neither promise rejects: a description that cannot be read
 * or written counts as not kept.
 */
export interface KeptDefinitions {
  /** `key` contains everything that the description of a server depends on, including secrets. The key itself is not kept. */
  read(key: string): Promise<Definitions | undefined>;
  /** Replaces the definitions. A process that reads at the same time, or after a crash, gets the earlier or the new ones, complete. */
  write(key: string, definitions: Definitions): Promise<void>;
}

/** An input, and the input schema of its tool. */
export interface SchemaCheck {
  readonly server: string;
  readonly tool: string;
  readonly schema: JsonObject;
  readonly value: unknown;
}

/** Checks values against the schemas that servers have written for their tools. */
export interface SchemaValidator {
  /**
   * The first problem of a value; undefined if there is none, or if the check is left to the server, because the schema cannot be used (logged
   * once) or the check could take long. Never throws.
   */
  validate(check: SchemaCheck): SchemaError | undefined;
}

/** A login to a remote server, without its tokens. */
export interface LoginSummary {
  readonly server: string;
  /** The caller to whom the login belongs; undefined if all use it. */
  readonly owner?: LoginOwner | undefined;
  readonly url: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Undefined if the issuer does not say. */
  readonly expiresAt: Date | undefined;
  /** Whether the login can be renewed without a person. */
  readonly renewable: boolean;
  /** Whether other users of this machine have access to the login's file or folder. */
  readonly isShared: boolean;
}

/** The person who signs in with a browser. */
export interface SigningIn {
  /** Shows the URL, which the person opens on any machine. `isClientKnown`: the client is that of a former login, which the issuer may have forgotten. */
  readonly onUrl: (url: string, isClientKnown: boolean) => void;
  /** Lines that the person pastes: one is the URL of the callback. */
  readonly lines: AsyncIterable<string>;
  /** Reports why a line was not accepted, as a part of a sentence. The wait continues. */
  readonly onIgnored: (why: string) => void;
}

/** The outcome of ending a login. `not_revoked`: the login was deleted, but its tokens may still be valid. `reason` is for people. */
export type SignedOut = Kind<'none' | 'deleted'> | Kind<'not_revoked' | 'not_deleted', { reason: string }>;

/** The logins of this machine to remote servers, which people create and end. */
export interface Logins {
  /** Signs in within 5 minutes. An error is the reason, for people, and leaves an existing login as it was. Rejects only because of a bug. */
  signIn(server: string, person: SigningIn, signal: AbortSignal): Promise<Result<LoginSummary, string>>;
  /** The logins to configured servers, in the order of the servers, also those of callers over HTTP. Sends no request. */
  list(): Promise<readonly LoginSummary[]>;
  /** Deletes a login, that of `owner` or the one of this machine, and revokes its tokens if the issuer can do that. */
  signOut(server: string, signal: AbortSignal, owner?: LoginOwner): Promise<SignedOut>;
}
