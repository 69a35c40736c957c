import { asText } from '../../src/adapters/outbound/openai/json-values.ts';
import { ask, judge, judgeReply, sightOf, unknown } from './check.js';

const [MINUTE_MS, MINUTES] = [60_000, [0, 1, 5, 11, 30]];
const idIn = (exchanges) => exchanges.map((exchange) => asText(sightOf(exchange).first[0]?.id)).findLast(Boolean);
const textOf = async (http) => (await http).text();
/** Sends requests about the response as soon as it has an ID. */
function begun({ exchanges, call }, ...sends) {
  const id = idIn(exchanges);
  return id === undefined ? [] : sends.map((send) => send(call, id).catch(() => {}));
}

export const LONG_ANSWERS = {
  'background-mode': (run) => {
    const retrieve = (call, id) => textOf(call.retrieve(id, run.signal));
    const resume = (call, id) => textOf(call.resume(id, 0, run.signal));
    return ask(run, { meanwhile: (program) => begun(program, retrieve, resume) });
  },
  cancel: async (run) => {
    const cancel = (call, id) => call.cancel(id).finally(() => textOf(call.retrieve(id, run.signal)));
    const outcome = await ask({ ...run, rules: [] }, { meanwhile: (program) => begun(program, cancel) });
    const sent = (part) => run.of('cancel').find(({ path }) => path.includes(part));
    if (sent('/cancel') === undefined) return unknown(outcome.seen, outcome);
    return judgeReply(run, sent(sent('/cancel').status === 200 ? 'include' : '/cancel'));
  },
  /** Asks once, and then looks at the same response, also in later runs with the same account. */
  stored: async (run) => {
    let { note } = run;
    if (note?.account !== run.account || !note.id || Number.isNaN(Date.parse(note.at))) {
      const outcome = await ask(run);
      note = { id: idIn(run.of('stored')), at: new Date(run.now()).toISOString(), account: run.account };
      if (outcome.verdict !== 'confirmed') return outcome;
    }
    const days = (run.now() - Date.parse(note.at)) / 86_400_000;
    const seen = `${note.id} of ${note.at} after ${Math.floor(days)} days`;
    const outcome = await look(run, note.id, seen);
    if (outcome.verdict === 'contradicted' && days > 30) return unknown(`gone, but late: ${seen}`, { note: null });
    const isEarly = outcome.verdict === 'confirmed' && days < 29;
    return isEarly ? unknown(`there: ${seen}; again after 29`, { note }) : { ...outcome, note };
  },
  kept: async (run) => {
    if (!run.isLong) return unknown('--long looks at a response for 30 minutes');
    const [outcome, looks] = [await ask(run), []];
    const [end, id] = [run.now(), idIn(run.of('kept'))];
    if (outcome.verdict !== 'confirmed') return outcome;
    for (const minute of MINUTES) {
      await run.sleep(end + minute * MINUTE_MS - run.now());
      if (run.signal.aborted) break;
      const at = (run.now() - end) / MINUTE_MS;
      const { verdict, status } = await look(run, id);
      const isUsual = Math.abs(at - minute) < 1 && verdict !== 'unknown';
      looks.push({ verdict, isUsual, seen: `${at.toFixed(1)} min after its end: HTTP ${status}` });
    }
    const seen = looks.map((one) => one.seen).join('; ');
    if (looks.length < MINUTES.length || looks.some(({ isUsual }) => !isUsual)) return unknown(seen);
    return judge(looks[2].verdict === 'confirmed' && looks[4].verdict === 'contradicted' ? [] : [seen], seen);
  },
};

/** Confirmed if the response is there, contradicted if it is gone. */
async function look(run, id, seen) {
  const program = await run.start({});
  await Promise.allSettled([textOf(program.call.retrieve(id, run.signal))]);
  await program.close();
  const [exchange, rules] = [program.exchanges[0], [{ at: 'head', needs: `"id":"${id}","status":"completed"` }]];
  return { status: exchange?.status, ...judgeReply({ ...run, rules }, exchange, seen) };
}
