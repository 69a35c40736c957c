import { apiId, type JsonObject } from './api-response.ts';
import { answerEvents, toSse } from './api-stream.ts';
import { unknownResponse } from './background-responses.ts';
import { answers, type Behaviour, fails, sendsBody, sendsJson, works } from './behaviours.ts';
import { type ConversationItem, calls, reasons, says, searches } from './conversation-items.ts';
import { scriptedEvents } from './conversation-stream.ts';
import { type FakeApi, type FakeApiOptions, type RecordedRequest, startFakeApi } from './fake-api.ts';
import { roundOf } from './fake-conversation-api.ts';

export const LIVE_KEY = 'sk-live-0123456789abcdef';
const PAGE = 'http://page.test/article';
const BLOCKED = 'https://nodejs.org/en/about';

/** What is different in the bodies of streams if an assumption is wrong. */
const CHANGES: Readonly<Record<string, (stream: string) => string>> = {
  citations: (stream) => stream.replaceAll('"url_citation"', '"page_citation"'),
  ranges: (stream) => stream.replaceAll(/"end_index":\d+/g, '"end_index":1'),
  sources: (stream) => stream.replaceAll(/"sources":\[[^\]]*\]/g, '"sources":[]'),
  'live-search': (stream) => stream.replaceAll('"external_web_access":true', '"external_web_access":false'),
  'cached-search': (stream) => stream.replaceAll(/"type":"search"/g, `"type":"open_page","url":"${PAGE}"`),
  'user-location': (stream) => stream.replaceAll('"city":"Tokyo"', '"city":null'),
  'blocked-domains': (stream) => stream.replaceAll(PAGE, BLOCKED),
  'always live': (stream) => stream.replaceAll('"external_web_access":false', '"external_web_access":true'),
  'no output': (stream) =>
    stream.replaceAll(/"output":\[.*?\],"parallel_tool_calls"/g, '"output":[],"parallel_tool_calls"'),
  'no tier': (stream) => stream.replaceAll(/"service_tier":"\w+"/g, '"service_tier":null'),
  'always stored': (stream) => stream.replaceAll('"store":false', '"store":true'),
  'no tools': (stream) => stream.replaceAll(/"tools":\[.*?\],"top_logprobs"/g, '"tools":null,"top_logprobs"'),
  'no sources': (stream) => stream.replaceAll(/,"sources":\[[^\]]*\]/g, ''),
  'no emoji': (stream) => stream.replaceAll('🟢', '-'),
  'text that is a number': (stream) => stream.replaceAll(/"text":"[^"]*"/g, '"text":7'),
  'UTF-16 ranges': (stream) =>
    stream.replaceAll(/"(start|end)_index":(\d+)/g, (_, end, at) => `"${end}_index":${+at + 1}`),
  'no numbers': (stream) => stream.replaceAll(/,"sequence_number":\d+/g, ''),
  'no ID': (stream) => stream.replaceAll(/"id":"resp_\w+",/g, ''),
  'no background': (stream) => stream.replaceAll('"background":true,', ''),
  'not in background': (stream) => stream.replaceAll('"background":true', '"background":false'),
  'key in answers': (stream) => stream.replaceAll('deploy', `deploy ${LIVE_KEY}`),
  'one figure': (stream) => stream.replaceAll(' since 2025-10-28', ' as everyone says'),
  'not stored': (stream) => stream.replaceAll('"store":true', '"store":false'),
  shapes: (stream) => `event: response.future\ndata: {"type":"response.future","hint":1}\n\n${stream}`,
};

/**
 * A fake of the API for `npm run live`: each assumption is right, but for those that `wrong` names. The answers cite a page of the host
 * `page.test`.
 */
export function startLiveApi(...wrong: readonly string[]): Promise<FakeApi> {
  return startLiveApiWith({}, ...wrong);
}

export async function startLiveApiWith(options: FakeApiOptions, ...wrong: readonly string[]): Promise<FakeApi> {
  const isWrong = (name: string) => wrong.includes(name);
  const api = await startFakeApi({ repeatsEvents: isWrong('resume'), ...options });
  const looksFor = (name: string, look: Behaviour) => isWrong(name) && api.replyToLooks(look);
  looksFor('get-running', unknownResponse('/v1/responses/resp_1'));
  looksFor('cancel', sendsJson({ object: 'response', status: 'in_progress', output: [] }));

  api.replyWith((request): Behaviour => {
    const refused = refusal(request, isWrong);
    if (refused !== undefined) return refused;
    const { body } = request;
    const asked = { body, number: api.requests.length };
    if (body.store === true) {
      const stored = sendsJson({
        id: apiId('resp', asked.number),
        object: 'response',
        status: 'completed',
        output: [],
      });
      api.replyToLooks(isWrong('stored') ? unknownResponse('/v1/responses/resp_1') : stored);
    }
    const question = String(body.input);
    const key = isWrong('key in answers') ? `${LIVE_KEY} ` : '';
    const emoji = question.includes('emoji') ? '🟢 ' : '';
    const script = answers(`${key}Node.js 24 is LTS since 2025-10-28 ${emoji}([Node.js](${PAGE})).`, {
      citations: isWrong('answer') || isWrong('no search') ? [] : [{ url: PAGE, title: 'Node.js' }],
      sources: [{ url: PAGE }],
      search: !(isWrong('no search') || (isWrong('search-required') && typeof body.tool_choice === 'object')),
    });
    if (
      body.background === true &&
      !/^(?:no(?:t in background| numbers| ID| background)|always stored)$/.test(wrong.join())
    ) {
      if (question.includes('2 + 2')) return script;
      const response = works(script, 3);
      const isRead = (part: string) => api.requests.slice(asked.number).some(({ path }) => path.includes(part));
      void api.until(() => isRead('include') && isRead('starting_after')).then(() => response.release());
      return response;
    }
    const isGrounded = (body.tools as readonly JsonObject[]).some(({ type }) => type === 'function');
    const events = isGrounded ? scriptedEvents({ items: itemsOf(body, isWrong) }, asked) : answerEvents(script, asked);
    const tier = isWrong(`tier-${body.service_tier}`) ? 'default' : (body.service_tier ?? 'default');
    const stream = events
      .map(toSse)
      .join('')
      .replaceAll('"service_tier":"default"', `"service_tier":"${tier}"`)
      .replaceAll(
        /"type":"web_search"(?!.{0,300}"external_web_access")/g,
        '"type":"web_search","external_web_access":true',
      );
    return sendsBody({ body: wrong.reduce((changed, name) => CHANGES[name]?.(changed) ?? changed, stream) });
  });
  return api;
}

/** The model searches the web and the notes, and then answers; or first the notes. */
function itemsOf(body: JsonObject, isWrong: (name: string) => boolean): readonly ConversationItem[] {
  const isNotesFirst = isWrong('notes first');
  const search = searches('holidays', 'holidays', [PAGE]);
  const end = says('end', 'You deploy on Tuesdays, which is no public holiday next week.');
  if (roundOf(body) > 0) return isNotesFirst || isWrong('search in a closed round') ? [search, end] : [end];
  const call = calls('notes', 'notes__search_notes', { word: 'deploy' });
  return [reasons('plan'), ...(isNotesFirst ? [] : [search, reasons('next')]), call];
}

/** An error that the API answers with, also if the assumption about it is wrong. */
function refusal({ body, headers }: RecordedRequest, isWrong: (name: string) => boolean): Behaviour | undefined {
  if (headers.authorization !== `Bearer ${LIVE_KEY}`)
    return isWrong('wrong-key')
      ? error(403, null, null, 'This key is not valid.')
      : error(401, null, 'invalid_api_key', 'Incorrect API key provided: sk-wrong**live.');
  if (body.model === 'gpt-0-no-model')
    return isWrong('unknown-model')
      ? error(400, 'model', null, 'Bad request.')
      : error(400, 'model', 'model_not_found', "The requested model 'gpt-0-no-model' does not exist.");
  if (String(body.instructions).length > 10_485_760 && !isWrong('too-long'))
    return error(400, 'instructions', 'string_above_max_length', "Invalid 'instructions': string too long.");
  const rejected: readonly (readonly [string, string, unknown])[] = [
    ['answer_detailed', 'max_tool_calls', body.max_tool_calls === 30],
    ['answer_quick', 'reasoning.effort', Object(body.reasoning).effort === 'low'],
    ['parameters', 'reasoning.mode', Object(body.reasoning).mode],
    ['verbosity', 'text.verbosity', Object(body.text).verbosity],
    ['location', 'tools[0].user_location', Object(Object(body.tools)[0]).user_location],
    ['background-mode', 'background', body.background],
    ['grounded-closed', 'tools[0].external_web_access', Object(Object(body.tools)[0]).external_web_access === false],
    ['grounded', 'input[1]', roundOf(body) > 0],
  ];
  const [, param] = rejected.find(([name, , isSent]) => isWrong(name) && Boolean(isSent)) ?? [];
  return param === undefined
    ? undefined
    : error(400, param, 'unsupported_parameter', `Unsupported parameter: '${param}'.`);
}

function error(status: number, param: string | null, code: string | null, message: string): Behaviour {
  return fails({ status, error: { message, type: 'invalid_request_error', param, code } });
}
