import { err, ok, type Result } from 'neverthrow';
import type { ToolServerError } from '../../src/domain/gateway/tool-call-error.ts';
import { isObject, type JsonObject } from '../../src/domain/values/json.ts';

/** A request to the server as it came through the gateway: what the client declared, and what its retry adds. */
export interface Given {
  readonly declared: JsonObject;
  readonly inputResponses?: JsonObject | undefined;
  readonly requestState?: string | undefined;
}

type Outcome = Result<JsonObject, ToolServerError>;

const NAME = form('What is your name?', 'name', 'string');
const SAMPLING = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
    maxTokens: 100,
  },
};
const ROOTS = { method: 'roots/list', params: {} };
const CONFIRM = { confirm: form('Please confirm', 'ok', 'boolean') };

/** The tools with which the official suite tests that a server asks by its result (SEP-2322), as a server of MCP 2026-07-28 has them. */
export const ASKING_TOOLS: Readonly<Record<string, (given: Given) => Outcome>> = {
  test_input_required_result_elicitation: asking([{ user_name: NAME }]),
  test_input_required_result_sampling: asking([{ capital_question: SAMPLING }]),
  test_input_required_result_list_roots: asking([{ client_roots: ROOTS }]),
  test_input_required_result_request_state: asking([CONFIRM], 'round'),
  test_input_required_result_tampered_state: asking([CONFIRM], 'round'),
  test_input_required_result_multiple_inputs: asking(
    [{ user_name: NAME, greeting: SAMPLING, client_roots: ROOTS }],
    'round',
  ),
  test_input_required_result_multi_round: asking(
    [{ step1: NAME }, { step2: form('What is your favorite color?', 'color', 'string') }],
    'round',
  ),
  /** Asks only what the client has declared. */
  test_input_required_result_capabilities: (given) => {
    const { sampling } = given.declared;
    return asking([sampling === undefined ? { user_name: NAME } : { capital_question: SAMPLING }])(given);
  },
};

/** The prompt that asks before it answers. */
export const askingPrompt = asking(
  [{ user_context: form('What context should the prompt use?', 'context', 'string') }],
  undefined,
  { messages: [{ role: 'user', content: { type: 'text', text: 'A prompt with that context.' } }] },
);

function form(message: string, member: string, type: string) {
  const requestedSchema = { type: 'object', properties: { [member]: { type } }, required: [member] };
  return { method: 'elicitation/create', params: { message, requestedSchema } };
}

/** Asks in rounds. With `state`, each round but the first needs the state of the one before it. */
function asking(
  rounds: readonly JsonObject[],
  state?: string,
  end: JsonObject = { content: [{ type: 'text', text: 'state-ok' }] },
) {
  const states = rounds.map((_, index) => (state === undefined ? undefined : `${state}-${index + 1}`));
  return ({ inputResponses, requestState }: Given): Outcome => {
    const answered = requestState === undefined ? -1 : states.indexOf(requestState);
    if (requestState !== undefined && answered === -1)
      return err({ kind: 'json_rpc', code: -32602, message: 'this requestState is not mine', data: undefined });
    const asked = rounds[Math.max(answered, 0)] ?? {};
    const isAnswered = Object.keys(asked).every((key) => isObject(inputResponses?.[key]));
    const next = isAnswered ? Math.max(answered, 0) + 1 : Math.max(answered, 0);
    const inputRequests = rounds[next];
    return inputRequests === undefined
      ? ok(end)
      : ok({ resultType: 'input_required', inputRequests, requestState: states[next] });
  };
}
