import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageForProblems } from '../../src/adapters/inbound/words/config-problems.ts';
import { progressMessage } from '../../src/adapters/inbound/words/progress-messages.ts';
import { networkCalls } from '../../src/adapters/outbound/openai/api-client.ts';
import { EVERYTHING, LOCAL_CALLER } from '../../src/domain/gateway/call-origin.ts';
import { parseJson } from '../../src/domain/values/json.ts';
import { composeAnswers, openApi } from '../../src/wiring/answers.ts';
import { bootstrap } from '../../src/wiring/runtime.ts';
import { createServices } from '../../src/wiring/services.ts';

/** How to reach the API, and which models to use. Other variables would change what is checked. */
const VARIABLES = /^(?:OPENAI_(?:API_KEY|API_KEY_FILE|BASE_URL|ORG_ID|PROJECT_ID)|MODEL_.*|PATH|HOME|.*_PROXY)$/i;

/**
 * The program with `given` as its YAML file, without a log. What it exchanges with the API, without headers, is in `exchanges` and `all`:
 * `{path, sent, status, text}`. `onText` is called when more of a response has arrived. Requests by `call` have a time limit.
 */
export async function startProgram(given, { temporary, all = [], onText = () => {}, ...run }) {
  const file = join(mkdtempSync(join(temporary, 'config-')), 'config.yaml');
  writeFileSync(file, JSON.stringify(given));
  const kept = Object.entries({ ...run.environment, ...run.variables }).filter(([name]) => VARIABLES.test(name));
  const environment = Object.fromEntries(kept);
  const validated = await bootstrap({ environment, commandLine: { '--config': file }, version: '' });
  if ('problems' in validated) throw new Error(messageForProblems(validated.problems));
  const runtime = { ...validated.value, logger: { isDebug: false, debug() {}, warn() {}, error() {} } };
  const { openai, servers = [] } = runtime.config;
  const exchanges = [];
  const opened = await openApi(runtime);
  const api = { ...opened, fetch: tapped(opened.fetch, [exchanges, all], onText) };
  const { gateway, close } = createServices(runtime, { folder: temporary, gateway: { servers, logSpawn() {} } });
  const answers = await composeAnswers(runtime, api, temporary, gateway);
  const limited = (url, init) =>
    api.fetch(url, { ...init, signal: AbortSignal.any([run.signal, init.signal, AbortSignal.timeout(run.limitMs)]) });
  const onProgress = (it) => it.kind === 'retrying' && run.out(`${progressMessage(it, 'en')}; `);
  const input = { by: { caller: LOCAL_CALLER, door: 'cli', rights: () => EVERYTHING }, observer: { onProgress } };
  return {
    ...runtime,
    exchanges,
    call: networkCalls({ ...openai, fetch: limited })().unwrapOr(undefined),
    ask: (tool, query, signal) => answers.application.answerQuery({ ...input, tool, args: { query } }, signal),
    close: () => Promise.all([answers.close(), close()]), // Also waits until aborted responses were cancelled.
  };
}

function tapped(fetch, lists, onText) {
  return async (url, init) => {
    const { pathname, search } = new URL(url);
    const exchange = { path: pathname + search, sent: parseJson(init.body ?? '') ?? {}, status: 0, text: '' };
    for (const list of lists) list.push(exchange);
    const http = await fetch(url, init);
    exchange.status = http.status;
    const decoder = new TextDecoder();
    http.body.pause().on('data', (chunk) => {
      exchange.text += decoder.decode(chunk, { stream: true });
      onText();
    });
    return http; // Who reads it starts the flow.
  };
}
