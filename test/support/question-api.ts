import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from './api-response.ts';
import { answers, type Behaviour, responds, works } from './behaviours.ts';
import { calls, says, searches } from './conversation-items.ts';
import { type FakeApi, type RecordedRequest, startFakeApi } from './fake-api.ts';
import { questionOf, roundOf } from './fake-conversation-api.ts';

/** A fake of the API for people: what it does is written in the question (`npm run fake-api`). */
export async function startQuestionApi(): Promise<FakeApi> {
  const api = await startFakeApi();
  api.replyWith(async (request) => {
    const question = questionOf(request.body);
    const ms = 1000 * Number(/\bslow (\d+)/.exec(question)?.[1] ?? 0);
    if (request.body.background === true && !question.includes('tool:')) {
      const working = works(answers(`You asked: ${question.split('\n')[0]}`));
      void wait(ms).then(() => working.release());
      return working;
    }
    if (ms > 0) await wait(ms);
    return reply(request);
  });
  return api;
}

const SOURCE = { url: 'https://example.com/', title: 'Example Domain' };

/** `tool:NAME {...}` in the question calls a function whose name contains NAME; its output is the answer of the next round. */
function reply({ body }: RecordedRequest): Behaviour {
  const round = roundOf(body);
  const [line = ''] = questionOf(body).split('\n');
  const [, part, args = '{}'] = /\btool:(\S+)(?:\s+(\{.*\}))?/.exec(line) ?? [];
  const offered = (Array.isArray(body.tools) ? body.tools : []).map(({ name }: JsonObject) => String(name ?? ''));
  const name = part === undefined ? undefined : offered.find((candidate) => candidate.includes(part));
  if (round > 0) return responds({ items: [says('answer', `The tool returned: ${outputOf(body)}`)] });
  if (name !== undefined) return responds({ items: [calls('call', name, args)] });
  const missing =
    part === undefined ? '' : `No tool contains "${part}"; offered: ${offered.filter(Boolean).join(', ')}. `;
  const text = `${missing}You asked: ${line} ([example.com](${SOURCE.url}))`;
  return responds({ items: [searches('search', line, [SOURCE.url]), says('answer', text, { citations: [SOURCE] })] });
}

function outputOf({ input }: JsonObject): string {
  const items: readonly JsonObject[] = Array.isArray(input) ? input : [];
  const { output } = items.findLast(({ type }) => type === 'function_call_output') ?? {};
  return typeof output === 'string' ? output : JSON.stringify(output);
}
