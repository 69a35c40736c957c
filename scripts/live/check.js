// A check is a function of a run that resolves with `{verdict, seen}`, with `kind` if a question failed, and `isFinal` if each other check would too.
import { messageFor } from '../../src/adapters/inbound/words/error-messages.ts';
import { objectsOf } from '../../src/adapters/outbound/openai/json-values.ts';
import { isSearch } from '../../src/adapters/outbound/openai/search-calls.ts';
import { parseJson } from '../../src/domain/values/json.ts';
import defaults from './defaults.json' with { type: 'json' };

/** The instructions of the program, which the API repeats, are shown nowhere. */
export const json = (value) => JSON.stringify(value, (name, member) => (name === 'instructions' ? undefined : member));
export const unknown = (seen, { kind, isFinal, note } = {}) => ({ verdict: 'unknown', seen, kind, isFinal, note });
export const skip = async ({ otherwise }) => unknown(otherwise);
export const shown = ({ status, text }) => `HTTP ${status}: ${json(parseJson(text)) ?? text.trim()}`;
const headOf = ({ id, status, background, service_tier, store }) => ({ id, status, background, service_tier, store });
/** Failures of every question, and those of every question with the default model, if they do not name what is under test. */
const FINAL = /^(?:rejected_api_key|quota_exhausted|missing_permission|data_residency)$/;
const FINAL_OF_DEFAULT = /^(?:forbidden|model_not_found|unreadable_reply|bad_request)$/;
const AGAINST = /^(?:not_searched|web_not_restricted|history_rejected)$/; // If the API accepted the request.

/** A finding is a text against the assumption, or the reason why there was nothing to look at. */
export function judge(findings, seen = 'as assumed') {
  const against = findings.filter((finding) => typeof finding === 'string');
  const reasons = findings.flatMap(({ reason = [] }) => reason);
  if (against.length > 0) return { verdict: 'contradicted', seen: against.join('\n') };
  return reasons.length > 0 ? unknown(reasons.join('\n')) : { verdict: 'confirmed', seen };
}

/** Rules are about those parts of a sight that match `needs`: each must match `wants`, and not `rejects`. Without any, only `must` is against. */
export function findingsOf({ rules = [] }, sight) {
  return rules.flatMap(({ at, needs = '', wants = '', rejects = '(?!)', must }) => {
    const texts = sight[at].map(json).filter((text) => new RegExp(needs).test(text));
    if (texts.length === 0) return [must ?? { reason: `nothing to look at: ${at} ${needs}` }];
    return texts.filter((text) => !new RegExp(wants).test(text) || new RegExp(rejects, 'i').test(text));
  });
}

/** The usual check: by the rules, for its own question, or for a request of another check. */
export async function check(run) {
  const exchange = run.of(run.reads).findLast(({ path }) => path.includes(run.path ?? '/responses'));
  return run.reads === undefined ? ask(run) : judgeReply(run, exchange);
}

/** Asks what the file of its group says, or `given`. */
export async function ask(run, given = {}) {
  const { tool, query, config, variables, failure, status } = { ...defaults, ...run, ...given };
  const others = [];
  const onText = () => others.length === 0 && others.push(...(given.meanwhile?.(program) ?? []));
  const program = await run.start({ ...defaults.config, ...config }, { onText, variables });
  const answer = await program.ask(tool, query, run.signal);
  await Promise.allSettled(others);
  await program.close();
  const asked = program.exchanges.filter(({ path }) => path.endsWith('/responses'));
  const refused = refusals(run, asked);
  if (answer.isErr()) {
    const [{ kind }, message] = [answer.error, messageFor(answer.error)];
    const isAssumed = kind === failure && (status === undefined || asked.at(-1)?.status === status);
    if (refused.length > 0 || (asked.at(-1)?.status === 200 && AGAINST.test(kind)))
      return isAssumed ? judge([], refused.join('\n')) : judge([message, ...refused]);
    const isFinal = (FINAL.test(kind) && !variables?.OPENAI_API_KEY) || (run.isDefault && FINAL_OF_DEFAULT.test(kind));
    return unknown([message, ...asked.filter((one) => one.status >= 400).map(shown)].join('\n'), { kind, isFinal });
  }
  given.onAnswer?.(answer.value, query);
  if (failure !== undefined) return judge(['there was no failure']);
  const { model, searches } = answer.value.report;
  const seen = `${model}; ${asked.length} requests, ${searches} searches`;
  return judge([...refused, ...findingsOf(run, sightOf(asked.at(-1)))], seen);
}

/** Judges an exchange by the rules, or by what the API refused. */
export function judgeReply(run, exchange, seen) {
  const sight = sightOf(exchange);
  if (exchange?.status === 200 && sight.events.length > 0) return judge(findingsOf(run, sight), seen);
  const refused = refusals(run, exchange === undefined ? [] : [exchange]);
  return refused.length > 0 ? judge(refused) : unknown(exchange ? shown(exchange) : 'no such request was sent');
}

/** The errors that name what is under test: by their param, or else by code and message; where an error is looked for, by all of these. */
export function refusals({ names = '(?!)', group, failure }, exchanges) {
  const mayName = failure === 'rejected_api_key' ? /^4(?!29)/ : /^4(?!01|03|29)/;
  const isRefusal = ({ status, text }) => {
    const { param, code, message } = parseJson(text)?.error ?? {};
    const named = group === 'errors' || !param ? `${param} ${code} ${message}` : param;
    return mayName.test(status) && new RegExp(names, 'i').test(named);
  };
  return exchanges.filter(isRefusal).map(shown);
}

/** The events of a stream, or the one value of a JSON body. */
export function eventsOf(body) {
  return objectsOf((/^\s*\{/.test(body) ? [body] : body.match(/(?<=^data:).*/gm))?.map(parseJson));
}

/** What checks look at in an exchange: lists, which are empty if it has nothing of this. */
export function sightOf({ text: body = '', sent = {} } = {}) {
  const events = eventsOf(body);
  const responses = events.map((event) => (event.object === 'response' ? event : event.response));
  const response = objectsOf(responses).at(-1);
  const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
  const items = objectsOf(response?.output?.length > 0 ? response.output : done);
  const parts = items.flatMap(({ content }) => objectsOf(content));
  const cited = parts.flatMap(({ text, annotations }) => objectsOf(annotations).map((one) => ({ ...one, text })));
  const [citations, ranges] = [cited.map(({ text: _, ...one }) => one), cited.map(rangeOf)];
  const calls = items.filter(({ type }) => type === 'web_search_call');
  const web = [...objectsOf(response?.tools).filter(({ type }) => /^web_search/.test(type)), ...calls];
  const [first, head] = [responses.slice(0, 1), [response]].map((list) => objectsOf(list).map(headOf));
  const [start, tier] = [events.slice(0, 1), [{ asked: sent.service_tier, used: response?.service_tier }]];
  return { events, start, first, head, tier, citations, ranges, calls, searches: calls.filter(isSearch), web };
}

/** What a citation is about, by code points and by UTF-16 units, which differ after an emoji. */
function rangeOf({ text, start_index: start, end_index: end, url }) {
  const [points, units] = [[...String(text)].slice(start, end).join(''), String(text).slice(start, end)];
  const isLink = (span) => span === url || (/^\(?\[.*\)$/s.test(span) && span.includes(url));
  const kind = isLink(points) ? (isLink(units) ? 'both' : 'points') : isLink(units) ? 'units' : 'neither';
  return { start, end, kind, contains: points.includes(url), points, url };
}
