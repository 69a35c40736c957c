import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { never } from '../../src/application/async/deadline.ts';
import { answerServers } from '../../src/application/gateway/offer.ts';
import { EVERYTHING } from '../../src/domain/gateway/call-origin.ts';
import { composeCatalogue } from '../../src/wiring/catalogue.ts';
import { bootstrap } from '../../src/wiring/runtime.ts';
import { type JsonObject, responseBody } from '../support/api-response.ts';
import { type Behaviour, sendsBody } from '../support/behaviours.ts';
import { says } from '../support/conversation-items.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { LOCAL } from '../support/origins.ts';
import {
  callsIn,
  type Loop,
  type Recorded,
  readLoops,
  toList,
  toObject,
  toRecorded,
} from '../support/recorded-loops.ts';
import { type ScriptedServer, scriptedServer, text } from '../support/scripted-mcp.ts';
import { API_KEY } from './search-kit.ts';

/** Recorded conversations are not part of the repository; an environment variable can name a folder of them. */
const FOLDER = process.env.LOOPS_DIR ?? '';
if (FOLDER === '') process.stderr.write('openai-loops: skipped, since LOOPS_DIR names no folder\n');

const SERVER = 'recorded';
/** The functions have the names under which this program offers them. */
function renamed(body: string, tools: readonly JsonObject[]): string {
  return tools.reduce(
    (text, { name }) =>
      text.replaceAll(new RegExp(`("name": ?)"${String(name)}"`, 'g'), `$1"${SERVER}__${String(name)}"`),
    body,
  );
}

/** A recording that ends with calls gets an answer. */
function withAnswer({ responses }: Loop): readonly Recorded[] {
  const last = responses.at(-1);
  if (last === undefined || callsIn(last).length === 0) return responses;
  const body = responseBody({ items: [says('end', 'That was all.')] }, { body: {}, number: 1 });
  return [...responses, toRecorded(JSON.stringify(body), false)];
}

/** The complete program, except for its ways in: configuration, composition, gateway, a process with the recorded tools. */
async function startProgram(url: string, server: ScriptedServer, tools: readonly JsonObject[]) {
  const folder = mkdtempSync(join(tmpdir(), 'contract-loops-'));
  const config = {
    openai: { base_url: url },
    servers: [{ name: SERVER, command: server.command, args: server.args }],
    grounding: { tools: { [SERVER]: tools.map(({ name }) => name) } },
  };
  const file = join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const validated = await bootstrap({
    environment: { OPENAI_API_KEY: API_KEY },
    commandLine: { '--config': file },
    version: '0.9.0',
  });
  if ('problems' in validated) throw new Error(JSON.stringify(validated.problems));
  const runtime = validated.value;
  const servers = answerServers(runtime.config, EVERYTHING);
  const { loadApplication } = composeCatalogue(runtime, { servers, logSpawn: () => {} });
  onTestFinished(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
    expect(server.running()).toEqual([]);
  });
  return loadApplication();
}

/** An item as it must be sent back: as received, but without the sources of a search. */
function expectedItem(item: JsonObject): JsonObject {
  if (item.type !== 'web_search_call') return item;
  const { sources: _, ...action } = toObject(item.action);
  return { ...item, ...(item.action === undefined ? {} : { action }) };
}

function finalTexts({ items }: Recorded): readonly string[] {
  const messages = items.filter(({ type, phase }) => type === 'message' && phase !== 'commentary');
  return messages.flatMap(({ content }) => toList(content).map(({ text }) => String(text)));
}

const loops =
  FOLDER === ''
    ? []
    : readdirSync(FOLDER)
        .filter((name) => !name.includes('.'))
        .flatMap((name) => readLoops(FOLDER, name));

describe.skipIf(loops.length === 0)('recorded conversations', () => {
  // One or two that `npm run live` has recorded do not.
  test.skipIf(loops.length < 5)('include every shape', () => {
    const shapes = loops.flatMap(({ responses }) =>
      responses.map(({ items }) => [...new Set(items.map(({ type }) => String(type)))].join(', ')),
    );
    expect(shapes).toEqual(
      expect.arrayContaining([
        'function_call',
        'reasoning, function_call',
        'reasoning, message, function_call',
        'reasoning, tool_search_call, tool_search_output, function_call',
        'reasoning, web_search_call, message',
      ]),
    );
    expect(Math.max(...loops.map(({ responses }) => responses.length))).toBe(5);
    expect(loops.some(({ responses }) => responses.some((one) => callsIn(one).length === 4))).toBe(true);
  });

  test.each(loops)('$name', async (loop) => {
    const responses = withAnswer(loop).map(({ body, isStream }) => toRecorded(renamed(body, loop.tools), isStream));
    const asked = responses.flatMap(callsIn);
    const outputOf = ({ call_id: id }: JsonObject) => loop.outputs.get(String(id)) ?? 'done';
    const server = scriptedServer(
      loop.tools.map(({ name, description, parameters }) => ({
        name: String(name),
        description: String(description ?? ''),
        inputSchema: { type: 'object', ...toObject(parameters) },
        reactions: asked
          .filter((call) => call.name === `${SERVER}__${String(name)}`)
          .map((call) => ({ args: toObject(JSON.parse(String(call.arguments))), ...text(outputOf(call)) })),
      })),
    );
    const api = await startFakeApi();
    onTestFinished(() => api.close());
    api.reply(
      ...responses.map(({ body, isStream }): Behaviour => {
        const contentType = isStream ? 'text/event-stream; charset=utf-8' : 'application/json';
        return sendsBody({ body, contentType });
      }),
    );
    const application = await startProgram(api.url, server, loop.tools);
    const outcome = await application.answerQuery.execute(
      {
        by: LOCAL,
        tool: 'answer',
        args: { query: 'Do what was recorded.' },
        observer: { onProgress: () => {} },
      },
      never(),
    );

    expect(api.requests).toHaveLength(responses.length);
    const history = responses.map((response) => [
      ...response.items.map(expectedItem),
      ...callsIn(response).map((call) => ({
        type: 'function_call_output',
        call_id: call.call_id,
        output: expect.stringMatching(/^\[Output of the tool recorded\/|^error: /),
      })),
    ]);
    for (const [round, { body }] of api.requests.entries()) {
      const [question, ...rest] = toList(body.input);
      expect(question).toMatchObject({ role: 'user', content: expect.stringContaining('Do what was recorded.') });
      expect(rest).toEqual(history.slice(0, round).flat());
    }
    const sent = toList(api.requests.at(-1)?.body.input).filter(({ type }) => type === 'function_call_output');
    for (const call of responses.slice(0, -1).flatMap(callsIn)) {
      const output = sent.find(({ call_id: id }) => id === call.call_id)?.output;
      expect(output).toContain(outputOf(call));
    }
    expect(server.calls().toSorted()).toEqual(
      asked
        .map(
          (call) =>
            `${String(call.name).slice(SERVER.length + 2)} ${String(JSON.stringify(JSON.parse(String(call.arguments))))}`,
        )
        .toSorted(),
    );
    const last = responses.at(-1);
    const texts = last === undefined ? [] : finalTexts(last);
    if (texts.join('').trim() === '') {
      expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'empty_answer' });
      return;
    }
    const { result, report } = outcome._unsafeUnwrap();
    for (const line of texts.flatMap((text) => text.split('\n'))) {
      expect(result.answer).toContain(
        line
          .trim()
          .replace(/^[-*] /, '')
          .replace(/[?&]utm_source=openai/g, ''),
      );
    }
    expect(report).toMatchObject({ rounds: responses.length, attempts: responses.length });
    expect(report.toolCalls).toHaveLength(asked.length);
    expect(report.toolCalls?.every(({ ok }) => ok)).toBe(true);
  });
});
