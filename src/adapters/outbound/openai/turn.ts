import type { Result } from 'neverthrow';
import type { FunctionCall, Turn } from '../../../application/ports/llm-turns.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Failure, FailureContext } from './failure.ts';
import { asObject, objectsOf } from './json-values.ts';
import { citedBy, toSearchReply } from './search-reply.ts';

/** A response as a turn of a conversation (rulings L8, L9). A call of a response that is not complete must not run. */
export function toTurn(response: JsonObject, context: FailureContext, datedIn?: string): Result<Turn, Failure> {
  return toSearchReply(response, context, datedIn).map((reply) => {
    const items = objectsOf(response.output);
    const isComplete = response.status === undefined || response.status === 'completed';
    const calls = isComplete ? items.filter(isCall).map(toCall) : [];
    if (calls.length === 0) return { items: items.map(toItem), calls, reply };
    // No message before a call is the answer, and what any of them cites is a source of it.
    const cited = citedBy(items.filter(({ type }) => type === 'message'));
    return { items: items.map(toItem), calls, reply: { ...reply, sources: { ...reply.sources, cited } } };
  });
}

function isCall({ type }: JsonObject): boolean {
  return type === 'function_call';
}

function toCall({ call_id: callId, name, arguments: args, status }: JsonObject): FunctionCall {
  return {
    callId: String(callId),
    name: String(name),
    arguments: typeof args === 'string' ? args : '',
    isIncomplete: status === 'incomplete',
  };
}

/** Items are sent back as they were received, but for the sources of searches, which the API does not accept. */
function toItem(item: JsonObject): JsonObject {
  const action = item.type === 'web_search_call' ? asObject(item.action) : undefined;
  if (action === undefined) return item;
  const { sources: _, ...rest } = action;
  return { ...item, action: rest };
}
