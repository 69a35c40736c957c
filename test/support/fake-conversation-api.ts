import type { JsonObject } from './api-response.ts';
import { toSse } from './api-stream.ts';
import { type Behaviour, fails, sendsBody, sendsJson } from './behaviours.ts';
import type { ConversationItem } from './conversation-items.ts';
import { type BackEnd, refusalOf } from './conversation-rules.ts';
import { type ScriptedResponse, scriptedBody, scriptedEvents } from './conversation-stream.ts';
import { type FakeApi, type RecordedRequest, startFakeApi } from './fake-api.ts';

/** A fake of the API for conversations: it plays a script, and rejects requests that the API would reject. */
export interface ConversationApi extends FakeApi {
  /** The responses of a conversation, in order. Several scripts are told apart by a part of the question. */
  script(responses: readonly (ScriptedResponse | readonly ConversationItem[])[], part?: string): void;
  /** What happens to the next requests of this round (from 0) before the script is played. */
  disturb(round: number, behaviours: readonly Behaviour[], part?: string): void;
  /** The messages of the requests that were rejected because of what they contained, in order. */
  readonly refusals: readonly string[];
  /** What this back end does not accept. */
  backEnd: BackEnd;
}

interface Script {
  readonly responses: readonly ScriptedResponse[];
  readonly disturbances: Map<number, Behaviour[]>;
}

export async function startConversationApi(backEnd: BackEnd = {}): Promise<ConversationApi> {
  const api = await startFakeApi();
  const scripts = new Map<string, Script>();
  const refusals: string[] = [];
  const conversations: ConversationApi = Object.assign(api, {
    backEnd,
    refusals,
    script: (responses: readonly (ScriptedResponse | readonly ConversationItem[])[], part = '') => {
      const complete = responses.map(
        (response): ScriptedResponse => ('items' in response ? response : { items: response }),
      );
      scripts.set(part, { responses: complete, disturbances: new Map() });
    },
    disturb: (round: number, behaviours: readonly Behaviour[], part = '') => {
      scripts.get(part)?.disturbances.set(round, [...behaviours]);
    },
  });
  api.replyWith((request) => {
    const question = questionOf(request.body);
    const [, script] = [...scripts].find(([part]) => question.includes(part)) ?? [];
    if (script === undefined) return wrong(`there is no script for ${question}`);
    const round = roundOf(request.body);
    const disturbance = script.disturbances.get(round)?.shift();
    if (disturbance !== undefined) return disturbance;
    const refusal = refusalOf(request.body, conversations.backEnd);
    if (refusal !== undefined) refusals.push(refusal.kind === 'replies' ? (refusal.error?.message ?? '') : '');
    return refusal ?? play(script.responses[round], request, round);
  });
  return conversations;
}

/** The part of the stream of a response before its terminal event: everything was received, but nothing may be used. */
export function cutsBeforeEnd(script: ScriptedResponse): Behaviour {
  const events = scriptedEvents(script, { body: {}, number: 1 });
  return sendsBody({ body: events.slice(0, -1).map(toSse).join('') });
}

function play(response: ScriptedResponse | undefined, request: RecordedRequest, round: number): Behaviour {
  if (response === undefined) return wrong(`the script has no round ${round}`);
  const searches = response.items.some(({ type }) => type === 'web_search_call');
  if (searches && !permitsSearch(request.body)) return wrong(`round ${round} searches, which is not permitted`);
  const asked = { body: request.body, number: round };
  return response.isJson === true
    ? sendsJson(scriptedBody(response, asked))
    : sendsBody({ body: scriptedEvents(response, asked).map(toSse).join('') });
}

/** Whether the model may search the live web. */
export function permitsSearch({ tools, tool_choice: choice }: JsonObject): boolean {
  const web = (Array.isArray(tools) ? tools : []).find(({ type }: JsonObject) => type === 'web_search');
  return web !== undefined && web.external_web_access !== false && (choice === undefined || choice === 'auto');
}

/** The number of times that outputs follow calls. */
export function roundOf({ input }: JsonObject): number {
  const types = (Array.isArray(input) ? input : []).map(({ type }: JsonObject) => type);
  return types.filter((type, index) => type === 'function_call_output' && types[index - 1] !== type).length;
}

/** The text of the first input, which is the question. */
export function questionOf({ input }: JsonObject): string {
  if (typeof input === 'string') return input;
  const [first] = Array.isArray(input) ? input : [];
  return String((first as JsonObject | undefined)?.content);
}

/** A mistake of the test, which no program recovers from. */
function wrong(problem: string): Behaviour {
  const error = { message: `The script is wrong: ${problem}.`, type: 'fake', param: null, code: 'wrong_script' };
  return fails({ status: 400, error });
}
