import { askedText, type InputRequired, type NotAnswered } from '../../../domain/gateway/elicitation.ts';
import { advised, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import {
  loginCommand,
  type ServerState,
  TOOL_ERRORS,
  type ToolCallError,
} from '../../../domain/gateway/tool-call-error.ts';
import { cleanText, shortLine, withoutEnd } from '../../../domain/values/clean-text.ts';
import { nearestName } from '../nearest-name.ts';
import { duration, excerpt, NO_AUDIT } from './plain.ts';

export const NO_ERROR_TEXT = 'The tool reported an error without a text.';
const LIST_TOOLS = 'List its tools to see which it has.';
export const NO_SERVERS = 'No servers are configured (servers in the YAML file of --config, or --servers=<path>).';

interface FilesOfClients {
  readonly read: readonly { readonly file: string }[];
  /** Those in this folder that no option names. */
  readonly unused: readonly string[];
}

export function noServers({ read, unused }: FilesOfClients, ownCommand?: OwnCommand): string {
  if (read.length > 0) return `There is no server that can be used in ${read.map(({ file }) => file).join(', ')}.`;
  if (unused.length === 0) return NO_SERVERS;
  const options = unused.map((file) => ` --servers ${file}`).join('');
  return `${NO_SERVERS} This folder has ${unused.join(', ')}; use it with: ${advised(`tools${options}`, ownCommand)}`;
}

/** For a caller for whom access hides every server. The names of the servers stay hidden. */
export const NO_SERVERS_ALLOWED =
  'Access allows you no servers; who operates the gateway can allow some (servers of an entry in access).';
export const idleServers = (ownCommand: OwnCommand | undefined) =>
  `Idle servers start with their first call. To ask them for their tools now: ${advised('tools --fresh', ownCommand)}`;
export const NO_OBJECT = `The input must be a JSON object, such as '{"message": "hello"}', or key=value words, such as message=hello.`;
/** A value that was typed for a member which is no text. */
export const noJson = (key: string, value: string) =>
  `${key}: ${JSON.stringify(excerpt(value))} is not JSON. The tool takes no text here, but JSON, such as 1, true or '["a"]'.`;
export const unreadableFile = (file: string, reason: string) => `The file ${file} cannot be read (${reason}).`;

export const unwritableFile = (file: string, reason: string) => `The file ${file} cannot be written (${reason}).\n`;

const MAX_NAMES = 20;

/** The message for a failed call of a server's tool: what happened, then what to do. `ownCommand`: how the reader starts this program, if that is known. */
export function toolErrorMessage(error: ToolCallError, ownCommand?: OwnCommand): string {
  return cleanText(rawMessage(error, ownCommand));
}

/** The error code and the message, for clients that get only a text. */
export function toolErrorText(error: ToolCallError, ownCommand?: OwnCommand): string {
  const message = toolErrorMessage(error, ownCommand);
  return error.kind in NO_AUDIT ? message : `${toolErrorCode(error)}: ${message}`;
}

/** The message in the terminal, where the server was started only for this call, and is not started again. */
export function onlyCallMessage(error: ToolCallError, ownCommand?: OwnCommand): string {
  if (error.kind === 'timed_out') {
    return `No answer within ${duration(error.timeoutMs)}. The tool may still be running. Allow more time (--timeout=<seconds>), or ask for less.`;
  }
  if (error.kind !== 'not_available') return toolErrorMessage(error, ownCommand);
  const reason = error.reason === undefined ? '' : `: ${error.reason}`;
  return cleanText(`The server ${error.server} is not available${reason}. For details, add --debug.`);
}

function rawMessage(error: ToolCallError, ownCommand: OwnCommand | undefined): string {
  switch (error.kind) {
    case 'invalid_input':
      return `The input does not match the tool's schema: ${error.errors.map(({ path, message }) => `${path || 'the input'} ${message}`).join('; ')}.`;
    case 'unknown_server':
      return `There is no server ${JSON.stringify(excerpt(error.server))}. ${choices('The servers are', error.server, error.known, error.isNoneAllowed ? NO_SERVERS_ALLOWED : NO_SERVERS)}`;
    case 'unknown_tool': {
      const { server, tool, known, isGone } = error;
      const others = known === undefined ? LIST_TOOLS : choices('Its tools are', tool, known, 'It has no tools.');
      return `The server ${server} ${isGone ? 'no longer has the' : 'has no'} tool ${JSON.stringify(excerpt(tool))}. ${others}`;
    }
    case 'tool_changed':
      return `The tool ${error.server}/${error.tool} ${error.change === 'new' ? 'is new' : 'has changed'} and is not approved, so the call was not sent. Compare it with: ${advised('tools --diff', ownCommand)}. Approve it with: ${advised('tools --lock', ownCommand)}`;
    case 'not_read_only':
      return `The tool ${JSON.stringify(excerpt(error.tool))} of the server ${error.server} does not declare that it only reads. Nothing was sent. Use call_tool to call it.`;
    case 'not_available': {
      if (error.state === 'starting')
        return `The server ${error.server} is still starting; nothing was sent. Try again soon.`;
      const reason = error.reason === undefined ? '' : `: ${error.reason}`;
      return `The server ${error.server} is not available (${STATES[error.state]}${reason}). ${retryAdvice(error)}`;
    }
    case 'overloaded':
      if (error.unit === 'connections')
        return `The server ${error.server} has connections of ${error.maxConcurrency} callers, and all are in use. Nothing was sent. Try again soon, or raise its max_connections.`;
      return `The server ${error.server} has ${error.maxConcurrency} calls in progress and as many waiting. Try again when some have finished, or raise its max_concurrency.`;
    case 'json_rpc':
      // The message may consist of characters that are never displayed.
      return cleanText(error.message).trim() === ''
        ? `The server answered with the error ${error.code}.`
        : error.message;
    case 'crashed':
      return `The server was lost during the call (${error.reason}). The call may have had effects; it was not repeated.`;
    case 'too_large':
      return `The call was made, but its answer exceeds ${error.maxBytes} bytes. Ask for less, or raise the server's max_response_bytes.`;
    case 'invalid_result':
      return `The server's answer is not valid: ${error.detail}.`;
    case 'unauthorized':
      return unauthorizedMessage(error, ownCommand);
    case 'login_required':
      return loginRequiredMessage(error, ownCommand);
    case 'audit_unavailable':
    case 'unrecorded':
      return NO_AUDIT[error.kind];
    case 'shutting_down':
      return 'The gateway is shutting down. Try again later.';
    case 'timed_out':
      return `No answer within ${duration(error.timeoutMs)}. The tool may still be running. Allow more time (timeout of the server), or ask for less.`;
    case 'no_open_question':
      return NO_OPEN_QUESTION;
    case 'input_required':
      return inputRequiredMessage(error);
    case 'cancelled':
      return 'The call was cancelled.';
  }
}

export const NO_OPEN_QUESTION =
  'the question of this requestState is not open: it was answered before, has ended, or belongs to another call. Nothing was sent. Call again without requestState and inputResponses.';
const BY_ELICITATION = 'Call this tool from a client that supports elicitation, or in the terminal.';

/** Why nobody answered a question of a server, and what to do. */
const NOT_ANSWERED: Readonly<Record<NotAnswered, (waitedMs: number) => string>> = {
  nobody: () => `Nobody can be asked here. ${BY_ELICITATION}`,
  others: () =>
    'Calls of several callers were running on this server, or were cancelled a short time ago. Nobody is asked what the call of another person wants to know. Call this tool again later.',
  late: (waitedMs) => `There was no answer within ${duration(waitedMs)} (question_timeout). Call this tool again.`,
  too_many: () => 'This call has asked too often. Call this tool with more complete arguments.',
  too_many_open: () => 'Too many of your questions are open. Answer or cancel them, then call this tool again.',
  invalid: () =>
    'The question is too large, or its form is not one of MCP, so that nobody was asked. Check the server.',
  declined: () => 'The person who was asked declined, and the tool cannot run without it.',
  ended: () => 'It was not answered, because the program or its client was ending. Call this tool again.',
};

function inputRequiredMessage({ server, elicitation, why, waitedMs = 0 }: InputRequired): string {
  const url = elicitation?.mode === 'url' ? ` (${elicitation.url})` : '';
  const asked = elicitation === undefined ? `${server} needs to ask a question.` : `${askedText(elicitation)}${url}`;
  return `${asked} ${NOT_ANSWERED[why](waitedMs)}`;
}

/** Maximum length of the issuer's reason. */
const MAX_REFUSAL = 300;

function loginRequiredMessage(
  { server, url, reason = '' }: Extract<ToolCallError, { kind: 'login_required' }>,
  ownCommand: OwnCommand | undefined,
): string {
  const refused = withoutEnd(shortLine(reason, MAX_REFUSAL), /[.\s]/);
  const why = refused === '' ? '' : `, because ${refused}`;
  if (url === undefined)
    return `The server ${server} requires a login${why}. Sign in on the gateway's machine with: ${loginCommand(server, ownCommand)}`;
  return `The server ${server} requires that you sign in${why}. Nothing was sent. Sign in at ${url} and call again.`;
}

function unauthorizedMessage(
  error: Extract<ToolCallError, { kind: 'unauthorized' }>,
  ownCommand: OwnCommand | undefined,
): string {
  const { server, status, scopes, reason } = error;
  if (reason !== undefined) return `The gateway has no access to the server ${server}: ${reason}.`;
  if (scopes === undefined)
    return `The server did not accept the gateway's credentials (HTTP ${status}). Check its headers in the configuration.`;
  const needed = scopes.join(', ') || 'those that the server requires';
  return `The gateway's login has too few scopes for this call. Set auth.scopes of the server ${server} to ${needed}, and sign in again on the gateway's machine with: ${loginCommand(server, ownCommand)}`;
}

const STATES: Readonly<Record<ServerState, string>> = {
  idle: 'it starts with its next call',
  starting: 'it is starting',
  available: 'it has just started',
  unavailable: 'it has stopped and will be started again',
  login_required: 'it requires a login',
  failed: 'it failed and is not started again',
  stopped: 'it was stopped',
};

function retryAdvice({ server, state, retryAfterMs }: Extract<ToolCallError, { kind: 'not_available' }>): string {
  if (retryAfterMs !== undefined) return `It is started again in ${duration(Math.max(retryAfterMs, 100))}.`;
  return state === 'starting' || state === 'available'
    ? 'Try again soon.'
    : `When that is mended, start it again (POST /mcp/servers/${server}/restart).`;
}

/** The progress messages of a call that waits before it is sent. */
export const WAITS = {
  starting: (server: string) => `Starting ${server}`,
  waiting: (server: string) => `Waiting: ${server} has asked another caller a question`,
};

/** The message for an MCP client that calls a tool which does not exist. `areAll`: whether there are no tools other than the known ones. */
export function unknownToolMessage(name: string, known: readonly string[], areAll = true): string {
  const advice = areAll
    ? choices('The tools are', name, known, 'There are no tools.')
    : 'List the tools to see which there are.';
  return cleanText(`There is no tool ${JSON.stringify(excerpt(name))}. ${advice}`);
}

function choices(text: string, received: string, names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  const nearest = nearestName(received, names);
  if (nearest !== undefined) return `Did you mean ${nearest}?`;
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${text} ${names.slice(0, MAX_NAMES).map(excerpt).join(', ')}${more}.`;
}

/** The code of an error for programs, in REST and in the texts of MCP results. */
export function toolErrorCode(error: ToolCallError) {
  return error.kind === 'json_rpc' ? jsonRpcErrorCode(error.code, error.message) : TOOL_ERRORS[error.kind].code;
}

/** MCP servers report an unknown tool with the code -32602 and a text; that of the official SDK is "Tool x not found". */
function jsonRpcErrorCode(code: number, message: string) {
  const isUnknownTool = code === -32602 && /unknown tool|^(?:MCP error -32602: )?tool .* not found$/i.test(message);
  if (code === -32601 || isUnknownTool) return 'TOOL_NOT_FOUND';
  if (code === -32602 || code === -32600) return 'VALIDATION_ERROR';
  return code === -32700 ? 'INTERNAL_ERROR' : TOOL_ERRORS.json_rpc.code;
}
