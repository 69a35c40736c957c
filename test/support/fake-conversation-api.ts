import type { JsonObject, ScriptedResponse } from './api-response.ts';
import { type Behaviour, fails, responds } from './behaviours.ts';
import type { ConversationItem } from './conversation-items.ts';
import { type BackEnd, refusalOf } from './conversation-rules.ts';
import { type FakeApi, startFakeApi } from './fake-api.ts';

/** A fake of the API for conversations: it plays a script, and rejects requests that the API would reject. */
export interface ConversationApi extends FakeApi {
  /** The responses of a conversation, in order. Several scripts are told apart by a part of the question. */
  script(responses: Script['responses'], part?: string): void;
  /** What happens to the next requests of this round (from 0) before the script is played. */
  disturb(round: number, ...behaviours: readonly Behaviour[]): void;
  /** The messages of the requests that were rejected because of what they contained, in order. */
  readonly refusals: readonly string[];
}

interface Script {
  readonly responses: readonly (ScriptedResponse | readonly ConversationItem[])[];
  readonly disturbances: Map<number, Behaviour[]>;
}

export async function startConversationApi(backEnd: BackEnd = {}): Promise<ConversationApi> {
  const api = await startFakeApi();
  const scripts = new Map<string, Script>();
  const refusals: string[] = [];
  const conversations: ConversationApi = Object.assign(api, {
    refusals,
    script: (responses: Script['responses'], part = '') => {
      scripts.set(part, { responses, disturbances: new Map() });
    },
    disturb: (round: number, ...behaviours: readonly Behaviour[]) => {
      scripts.get('')?.disturbances.set(round, [...behaviours]);
    },
  });
  api.replyWith(({ body }) => {
    const question = questionOf(body);
    const [, script] = [...scripts].find(([part]) => question.includes(part)) ?? [];
    if (script === undefined) return wrong(`there is no script for ${question}`);
    const round = roundOf(body);
    const disturbance = script.disturbances.get(round)?.shift();
    if (disturbance !== undefined) return disturbance;
    const refusal = refusalOf(body, backEnd);
    if (refusal === undefined) return play(script.responses[round], body, round);
    refusals.push(refusal.message);
    return fails({ status: 400, error: refusal });
  });
  return conversations;
}

function play(scripted: Script['responses'][number] | undefined, body: JsonObject, round: number): Behaviour {
  if (scripted === undefined) return wrong(`the script has no round ${round}`);
  const response = 'items' in scripted ? scripted : { items: scripted };
  const searches = response.items.some(({ type }) => type === 'web_search_call');
  if (searches && !permitsSearch(body)) return wrong(`round ${round} searches, which is not permitted`);
  return responds(response);
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
  return fails({ status: 400, error: { message: `The script is wrong: ${problem}.` } });
}
