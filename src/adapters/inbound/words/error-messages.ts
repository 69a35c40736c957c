import type { AnswerError, SearchError } from '../../../domain/answers/answer-error.ts';
import type { ArgumentProblem } from '../../../domain/answers/question.ts';
import { explainedCode } from '../../../domain/values/certificate-problem.ts';
import { cleanText } from '../../../domain/values/clean-text.ts';
import { valueFailureWords } from '../../../domain/values/value-failure.ts';
import { count, duration, excerpt, NO_AUDIT } from './plain.ts';

/** The message for a failure: what happened, then what to do. The only place where these messages are written. `quick` names the quick tool as its reader chooses it. */
export function messageFor(error: AnswerError, quick = 'answer_quick'): string {
  const { effects } = error;
  const message = rawMessageFor(error, quick);
  return cleanText(effects === undefined ? message : `${message} ${effectsNote(effects)}`);
}

/** A failed answer may have had effects, which asking again would repeat. */
function effectsNote(effects: readonly string[]): string {
  return `Before that, the model called tools that may have effects (${effects.map(excerpt).join(', ')}): check what they did before you ask again.`;
}

function rawMessageFor(error: AnswerError, quick = 'answer_quick'): string {
  switch (error.kind) {
    case 'invalid_arguments':
      return error.problems.map(argumentMessage).join('; ');
    case 'no_profile': {
      const keys = [...new Set(['answer', error.tool])].map((tool) => `model_profiles.${tool}.model`).join(' or ');
      return `The tool ${error.tool} has no model, because the configuration removes the profile answer. Set ${keys}, or MODEL_ANSWER, to a model ID.`;
    }
    case 'not_searched':
      return 'The model answered without a search, but the profile requires one (search: required). Ask again, or set search to auto.';
    case 'empty_answer':
      return error.reason === undefined
        ? 'The model replied without any text. Try again, or rephrase the question.'
        : `The model replied without any text, because it was cut off before it wrote any (${error.reason}). Raise max_output_tokens in the profile, or lower its reasoning_effort.`;
    case 'timed_out':
      return `No answer within ${duration(error.timeoutMs)}. Ask a narrower question, use ${quick}, or raise request.timeout_ms (OPENAI_API_TIMEOUT).`;
    case 'audit_unavailable':
    case 'unrecorded':
      return NO_AUDIT[error.kind];
    case 'cancelled':
      return error.isDetached ? 'Stopped waiting; the search continues.' : 'The question was cancelled.';
    case 'unread_api_key':
      return unreadKey(error);
    default:
      return searchMessageFor(error);
  }
}

function unreadKey({ failure, variable }: Extract<SearchError, { kind: 'unread_api_key' }>): string {
  return `The API key could not be read: ${sentence(valueFailureWords(failure))} Check ${variable}, and run the command or read the file in a terminal.`;
}

function searchMessageFor(error: Exclude<SearchError, { kind: 'aborted' | 'unread_api_key' }>): string {
  switch (error.kind) {
    case 'no_api_key':
      return `No API key: the environment variable ${error.variable} is not set. Set it (or ${error.variable}_FILE, the path of a file that contains the key) in the MCP client's configuration of this server or in your shell, or start with --offline to try recorded answers.`;
    case 'placeholder_api_key':
      return `The key in ${keyPlace(error.variable)} is a placeholder, which the MCP client or the shell did not fill in. Set it to a real key.`;
    case 'malformed_api_key':
      return `The key in ${keyPlace(error.variable)} contains characters that are not valid in an API key. Copy it again, without spaces or line breaks.`;
    case 'rejected_api_key':
      return `The API rejected the key in ${keyPlace(error.variable)} (401). It may be mistyped, revoked, missing a permission, or belong to another organization or base URL.`;
    case 'missing_permission':
      return `The key in ${keyPlace(error.variable)} does not have a required permission (401): ${sentence(error.detail)} Add the permission to the key, or use another key.`;
    case 'forbidden':
      return `The API denied access (403): ${sentence(error.detail)} Check the permissions of the key's project, and whether your country and model are supported.`;
    case 'model_not_found':
      return `The model ${error.model} does not exist, or this key has no access to it: ${sentence(error.detail)} Change the model of the profile (model_profiles, or MODEL_ANSWER).`;
    case 'bad_request':
      return `The API rejected the request: ${sentence(error.detail)} Check the model of the profile and the base URL in the configuration (--show-config).`;
    case 'rate_limited':
      return `Rate limit reached (429); gave up after ${count(error.attempts, 'attempt')}: ${sentence(error.detail)} ${waitAdvice(error.retryAfterMs)}`;
    case 'quota_exhausted':
      return `The quota of the account is exhausted (${error.diagnostics?.status ?? 429}): ${sentence(error.detail)} Check your plan and billing; waiting does not help.`;
    case 'server_error':
      return `The API failed; gave up after ${count(error.attempts, 'attempt')}: ${sentence(error.detail)} ${waitAdvice(error.retryAfterMs)}`;
    case 'connection_failed':
      return `${connectionProblem(error.host, error.detail)} (${count(error.attempts, 'attempt')}, ${explainedCode(error.detail)}). Check the network, the proxy variables and the base URL, then try again.`;
    case 'content_filtered':
      return "The API's content filter stopped the answer. Rephrase the question.";
    case 'failed':
      return `The API could not complete the answer: ${sentence(error.detail)} Try again; if it fails again, ask a simpler question or use another model.`;
    case 'unreadable_reply':
      return `The response could not be read: ${sentence(error.detail)} Check that the base URL points to a Responses API.`;
    case 'cached_search_rejected':
      return `The API does not accept a search of the cached index only (search.live: false): ${sentence(error.detail)} Change the model, or set search.live to true.`;
    case 'store_required':
      return `The API continues answers in the background only if it may store them: ${sentence(error.detail)} Set openai.store to true, or request.background to false.`;
    case 'data_residency':
      return `The account requires another base URL: ${sentence(error.detail)} Set openai.base_url (OPENAI_BASE_URL) to it.`;
    case 'interrupted':
      return error.handle === undefined || error.reason === undefined
        ? 'The connection to the API was lost before the end of the answer. Try again.'
        : `The answer could not be fetched, and the search was not cancelled. ${rawMessageFor(error.reason)} To get the answer, ask again with this query: ${error.handle}`;
    case 'no_final_answer':
      return noFinalAnswer(error);
    case 'history_rejected':
      return `The API did not accept the conversation with the tools' outputs: ${sentence(error.detail)} Ask again; if it fails again, use another model.`;
    case 'policy_violation':
      return `OpenAI blocked this request, because it may transfer data in an unintended way: ${sentence(error.detail)} The request is not sent again. Check what the tools returned, and which tools grounding.tools offers.`;
    case 'web_not_restricted':
      return `The API rejects requests in which the web is closed, so a search could leak private data: ${sentence(error.detail)} Change the model, or set grounding.web to never.`;
    case 'not_recorded':
      return `No recording matches this question (offline mode). Remove --offline, or LLM_ADAPTER (llm.adapter), to ask the API${offeredList(error)}`;
    case 'unreadable_recordings':
      return `The recordings in ${error.path} cannot be read (${error.detail}). Check the path (--offline, LLM_RECORDINGS or llm.recordings).`;
    case 'unknown_answer':
      return 'No answer with this ID: it has expired, or it belongs to another caller. Ask the original question.';
    case 'search_cancelled':
      return 'The search was cancelled. Ask the question again to start a new search.';
  }
}

function noFinalAnswer({ limit, max }: Extract<SearchError, { kind: 'no_final_answer' }>): string {
  return limit === 'time'
    ? 'The model did not answer in the remaining time. Ask a narrower question, or raise request.timeout_ms (OPENAI_API_TIMEOUT).'
    : `The model did not answer within ${max} ${limit} (grounding.max_${limit}). Ask a narrower question, or raise the limit.`;
}

/** Is added to the message if the lookup of a model was refused. */
export const LOOKUP_NOTE = ' Answers do not need this permission.';

/** The variable that contains the key, or the file that the variable names. */
function keyPlace(variable: string): string {
  if (variable.endsWith('_COMMAND')) return `the output of the command ${variable}`;
  return variable.endsWith('_FILE') ? `the file that ${variable} names` : variable;
}

function argumentMessage({ argument, received, accepted }: ArgumentProblem): string {
  if (received === undefined) return `${argument}: required; pass ${accepted}`;
  return `${argument}: got ${excerpt(JSON.stringify(received))}, expected ${accepted}`;
}

/** `code` is an error code of the operating system or of undici. */
function connectionProblem(route: string, code: string): string {
  const unconnected = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$|CERT|^UNABLE|^fetch /;
  return unconnected.test(code) ? `Could not connect to ${route}` : `Could not get a complete response from ${route}`;
}

function waitAdvice(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return 'Try again shortly.';
  return `The API asks you to wait ${duration(retryAfterMs)}; try again after that.`;
}

function offeredList({ offered, others }: Extract<AnswerError, { kind: 'not_recorded' }>): string {
  if (offered.length === 0)
    return others === 0 ? '. There are no recordings.' : '. No recorded question has a complete answer.';
  const questions = offered.map((question) => `\n- ${question}`).join('');
  const more = others === 0 ? '' : `\n${count(others, 'other recorded question')} not shown.`;
  return `, or ask one of these:${questions}${more}`;
}

function sentence(detail: string): string {
  return /[.!?。…]$/.test(detail) ? detail : `${detail}.`;
}
