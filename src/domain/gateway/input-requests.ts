import { isObject, type JsonObject, withoutUndefined } from '../values/json.ts';
import { askedText, type Elicitation, parseElicitation } from './elicitation.ts';

/** What a server of MCP 2026-07-28 wants to know before it can answer. */
export interface InputRequests {
  /** The requests of the server, by its keys. The elicitation is undefined for other requests, and if nobody can be asked that. */
  readonly requests: readonly InputRequest[];
  readonly requestState?: string | undefined;
}

type InputRequest = readonly [key: string, request: JsonObject, elicitation: Elicitation | undefined];

export const ELICIT = 'elicitation/create';
const REVISION = '2026-07-28';

/** Reads the result with which a server asks; undefined for any other result. */
export function parseInputRequests(server: string, result: JsonObject): InputRequests | undefined {
  if (result.resultType !== 'input_required') return undefined;
  const { inputRequests, requestState } = result;
  const requests = Object.entries(isObject(inputRequests) ? inputRequests : {}).map(([key, value]): InputRequest => {
    const request = isObject(value) ? value : {};
    const isElicitation = request.method === ELICIT;
    return [key, request, isElicitation ? parseElicitation(server, request.params, REVISION) : undefined];
  });
  return {
    requests,
    ...withoutUndefined({ requestState: typeof requestState === 'string' ? requestState : undefined }),
  };
}

/** The result of the server with its name in each question, because the person must know who asks. */
export function withNamedServer(result: JsonObject, { requests }: InputRequests): JsonObject {
  if (requests.length === 0) return result;
  const named = requests.map(([key, request, elicitation]) => [
    key,
    elicitation ? namedRequest(elicitation, request) : request,
  ]);
  return { ...result, inputRequests: Object.fromEntries(named) };
}

/** A request for an elicitation, whose message names the server. */
export function namedRequest(elicitation: Elicitation, request: JsonObject = { method: ELICIT }): JsonObject {
  return { ...request, params: { ...withoutNulls(elicitation.params), message: askedText(elicitation) } };
}

/** The parameters without the members that some servers write as null: for clients, that is no form of MCP. */
function withoutNulls({ _meta, ...params }: JsonObject): JsonObject {
  return { ...withoutNullMembers(params), ...withoutUndefined({ _meta: _meta ?? undefined }) };
}

function withoutNullMembers(value: JsonObject): JsonObject {
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, one]) => [name, isObject(one) ? withoutNullMembers(one) : one]));
}
