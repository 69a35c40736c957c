import { ask, judge, judgeReply, shown, sightOf, unknown } from './check.js';

const [MINUTE_MS, MINUTES] = [60_000, [0, 1, 5, 11, 30]];
const idIn = (exchanges) => exchanges.map((exchange) => sightOf(exchange).first[0]?.id).findLast(Boolean);
const retrieve = async (call, id, signal) => (await call.retrieve(id, signal)).text();
const resume = async (call, id, signal) => (await call.resume(id, 0, signal)).text();
const cancel = (call, id, signal) => call.cancel(id).finally(() => retrieve(call, id, signal));
/** Sends requests about the response as soon as it has an ID. */
const begun = ({ signal }, ...sends) => ({
  meanwhile: ({ exchanges, call }) => {
    const id = idIn(exchanges);
    return id === undefined ? [] : sends.map((send) => send(call, id, signal).catch(() => {}));
  },
});

export const LONG_ANSWERS = {
  'background-mode': (run) => ask(run, begun(run, retrieve, resume)),
  cancel: async (run) => {
    const outcome = await ask({ ...run, rules: [] }, begun(run, cancel));
    const sent = (part) => run.of('cancel').find(({ path }) => path.includes(part));
    const [asked, after] = [sent('/cancel'), sent('include')];
    if (asked === undefined) return unknown(outcome.seen, outcome);
    const hasEnded = /^(?:completed|failed|incomplete)$/.test(sightOf(after).head[0]?.status);
    if (hasEnded || /completed response/.test(asked.text)) return unknown(`it had ended: ${shown(asked)}`);
    return judgeReply(run, asked.status === 200 ? after : asked);
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
    const [outcome, looks] = [await ask(run), []];
    const [end, id] = [run.now(), idIn(run.of('kept'))];
    if (outcome.verdict !== 'confirmed') return outcome;
    for (const minute of MINUTES) {
      await run.sleep(end + minute * MINUTE_MS - run.now());
      if (run.signal.aborted) break;
      const at = (run.now() - end) / MINUTE_MS;
      const { verdict, status } = await look(run, id);
      run.out(`${at.toFixed(1)} min; `);
      const seen = `${at.toFixed(1)} min after its end: HTTP ${status}`;
      looks.push({ verdict: Math.abs(at - minute) < 1 ? verdict : 'unknown', seen });
    }
    const [verdicts, seen] = [looks.map((one) => one.verdict), looks.map((one) => one.seen).join('; ')];
    if (looks.length < MINUTES.length || verdicts.includes('unknown')) return unknown(seen);
    return judge(verdicts[2] === 'confirmed' && verdicts[4] === 'contradicted' ? [] : [seen], seen);
  },
};

/** Confirmed if the response is there, contradicted if it is gone. */
async function look(run, id, seen) {
  const program = await run.start({});
  await retrieve(program.call, id, run.signal).catch(() => {});
  await program.close();
  const [exchange, rules] = [program.exchanges[0], [{ at: 'head', needs: `"id":"${id}","status":"completed"` }]];
  return { status: exchange?.status, ...judgeReply({ ...run, rules }, exchange, seen) };
}
