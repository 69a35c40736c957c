import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimsFor } from '../../src/domain/evidence/claims.ts';
import { ask, judge, unknown } from './check.js';

export const EVIDENCE = {
  'readable-pages': async (run) => {
    const file = `live-evidence-${new Date(run.now()).toISOString().replace(/[:.]/g, '')}.tsv`;
    const row = (cells) => `${cells.map((cell) => run.redact(cell.replace(/\s+/g, ' '))).join('\t')}\n`;
    const add = (...cells) => appendFileSync(join(run.folder, file), row(cells), { mode: 0o600 });
    add('right (y or n)', 'alarm', 'figures', 'claim', 'quote', 'page', 'question');
    const [pages, failures] = [[], []];
    const onAnswer = ({ result: { answer, citations }, report }, query) => {
      pages.push(...report.checks.map(({ state, reason }) => reason ?? state));
      for (const { url, evidence: { missing = [], unrelated, quote = '' } = {} } of citations) {
        const alarm = missing.length > 0 ? 'missing' : unrelated ? 'unrelated' : undefined;
        if (alarm) add('', alarm, missing.join(', '), claimsFor(answer, url).join(' / '), quote, url, query);
      }
    };
    for (const [index, query] of run.questions.entries()) {
      run.out(`${index + 1} `);
      const outcome = await ask(run, { query, onAnswer });
      if (outcome.verdict !== 'confirmed') failures.push(outcome);
      if (outcome.isFinal || run.signal.aborted) break;
    }
    const count = (state) => pages.filter((other) => other === state).length;
    const [last, counts] = [failures.at(-1), [...new Set(pages)].map((one) => `${one} ${count(one)}`).join(', ')];
    const first = { seen: `${pages.length} cited pages: ${counts}; alarms are in ${file}` };
    const seen = [first, ...failures].map((one) => one.seen).join('\n');
    if (count('network') + count('timeout') === pages.length) return unknown(seen, last); // Or there is no page.
    return { ...judge(count('ok') * 2 <= pages.length - count('network') ? [seen] : [], seen), isFinal: last?.isFinal };
  },
};

/** The outcome of `alarms` by a table that a person filled in. */
export function score(file) {
  const table = readFileSync(file, 'utf8');
  const count = (mark, name) => [...table.matchAll(new RegExp(`^ *${mark}[^\\t\\n]*\\t(?:${name})\\t`, 'gim'))].length;
  const share = (name) => `${name}: ${count('y', name)} of ${count('[yn]', name)} are right`;
  const [all, judged, right] = ['', '[yn]', 'y'].map((mark) => count(mark, 'missing|unrelated'));
  if (all === 0) throw new Error(`${file} has no alarms: name a table that --evidence wrote.`);
  const seen = `${share('missing')}; ${share('unrelated')}; ${all - judged} not filled in`;
  if (judged < 10) return unknown(`${seen}; at least 10 are needed`);
  return judge(right < judged * 0.9 ? [seen] : [], seen);
}
