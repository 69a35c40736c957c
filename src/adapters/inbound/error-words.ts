import type { AnswerError } from '../../domain/answer-error.ts';
import { cleanText } from '../../domain/clean-text.ts';
import type { ArgumentProblem } from '../../domain/question.ts';
import type { ToolName } from '../../domain/tool-name.ts';

const SHOWN_LENGTH = 80;

/** A failure in words for people: what happened, then what to do. The only place where they are made. */
export function wordsFor(error: AnswerError): string {
  return cleanText(rawWordsFor(error));
}

function rawWordsFor(error: AnswerError): string {
  switch (error.kind) {
    case 'invalid_arguments':
      return error.problems.map(wordsForArgument).join('; ');
    case 'no_profile':
      return `The tool ${error.tool} has no model: the configuration takes the profile answer away. Give ${modelKeys(error.tool)} a model id.`;
    case 'no_api_key':
      return `No API key: the environment variable ${error.variable} is not set. Set it (or ${error.variable}_FILE, the path of a file that holds it) in the MCP client's configuration of this server or in your shell, or start with --offline to try recorded answers.`;
    case 'malformed_api_key':
      return `${capital(placeOfKey(error.variable))} holds characters that no API key has. Copy the key again, without blanks or line breaks.`;
    case 'rejected_api_key':
      return `The API did not accept the key (401). Check ${placeOfKey(error.variable)}: the key may be mistyped, revoked, or of another organization or base URL.`;
    case 'forbidden':
      return `The API refused access (403): ${sentence(error.detail)} Check the rights of the key's project, and whether your country and model are allowed.`;
    case 'model_not_found':
      return `The model ${error.model} does not exist or this key may not use it: ${sentence(error.detail)} Change the profile's model (model_profiles, or MODEL_ANSWER).`;
    case 'bad_request':
      return `The API refused the request: ${sentence(error.detail)} Check the profile's model and the base URL in the configuration (--show-config).`;
    case 'rate_limited':
      return `The API is limiting the rate of requests (429) after ${attempts(error.attempts)}: ${sentence(error.detail)} ${waitAdvice(error.retryAfterMs)}`;
    case 'quota_exhausted':
      return `The account's quota is used up (429): ${sentence(error.detail)} Check plan and billing; waiting does not help.`;
    case 'server_error':
      return `The API failed after ${attempts(error.attempts)}: ${sentence(error.detail)} ${waitAdvice(error.retryAfterMs)}`;
    case 'connection_failed':
      return `No whole answer came from ${error.host} after ${attempts(error.attempts)} (${error.detail}). Check the network, the proxy variables and the base URL, then try again.`;
    case 'content_filtered':
      return "The API's content filter stopped the answer. Put the question differently.";
    case 'failed':
      return `The API could not finish the answer: ${sentence(error.detail)} Ask again; if it happens again, ask more simply or use another model.`;
    case 'unreadable_reply':
      return `The reply could not be read (${error.detail}). Check that the base URL leads to a Responses API.`;
    case 'empty_answer':
      return error.reason === undefined
        ? 'The model replied without any text. Ask again, or put the question differently.'
        : `The model replied without any text: it was cut before it wrote (${error.reason}). Raise max_output_tokens in the profile, or lower its reasoning_effort.`;
    case 'not_recorded':
      return `This question is not recorded, and the server is offline. Leave --offline (LLM_ADAPTER, llm.adapter) out to ask the API. ${recordedList(error.recorded)}`;
    case 'unreadable_recordings':
      return `The recordings in ${error.path} cannot be read (${error.detail}). Check the path given to --offline.`;
    case 'timed_out':
      return `No answer within ${seconds(error.timeoutMs)}. Ask something narrower, use answer_quick, or raise request.timeout_ms (OPENAI_API_TIMEOUT).`;
    case 'cancelled':
      return 'The question was cancelled.';
  }
}

/** Where the key stands that was read: in a variable, or in the file that one names. */
function placeOfKey(variable: string): string {
  return variable.endsWith('_FILE') ? `the file that ${variable} names` : `the environment variable ${variable}`;
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** A length of time as people say it: `500 ms`, `1.5 s`, `90 s`. */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

function wordsForArgument({ argument, received, accepted }: ArgumentProblem): string {
  const came = received === undefined ? 'nothing' : excerpt(preview(received));
  return `${argument}: got ${came}, expected ${accepted}`;
}

/** What came, as JSON; a value nested thousands deep has none. */
function preview(received: unknown): string {
  try {
    return JSON.stringify(received) ?? String(received);
  } catch {
    return 'a value nested too deep to show';
  }
}

function waitAdvice(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? 'Wait a little and ask again.'
    : `It asks to wait ${seconds(retryAfterMs)}; ask again then.`;
}

function attempts(count: number): string {
  if (count === 0) return 'no attempt';
  return count === 1 ? '1 attempt' : `${count} attempts`;
}

function recordedList(recorded: readonly string[]): string {
  return recorded.length === 0
    ? 'Nothing is recorded.'
    : `Or ask what is recorded:\n${recorded.map((question) => `- ${question}`).join('\n')}`;
}

/** Where the model of a tool may stand. */
function modelKeys(tool: ToolName): string {
  const keys = ['model_profiles.answer.model', `model_profiles.${tool}.model`];
  return [...new Set(keys)].join(' or ');
}

/** What the API said, ended like a sentence. */
function sentence(detail: string): string {
  return /[.!?。…]$/.test(detail) ? detail : `${detail}.`;
}

function excerpt(text: string): string {
  const characters = [...text];
  return characters.length > SHOWN_LENGTH ? `${characters.slice(0, SHOWN_LENGTH).join('')}…` : text;
}
