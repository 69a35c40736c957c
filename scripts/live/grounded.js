import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRecordedBody } from '../../src/adapters/outbound/openai/recordings/recording.ts';
import { ask, findingsOf, json, judge, sightOf } from './check.js';

/** A conversation is recorded as `LOOPS_DIR` has them; only a confirmed one replaces that of an earlier run. */
export async function converse(run) {
  const servers = [{ name: 'notes', command: process.execPath, args: [join(run.root, 'examples', 'notes.mjs')] }];
  const outcome = await ask({ ...run, rules: [] }, { config: { servers, ...run.config } });
  const rounds = run.of(run.name).filter((exchange) => sightOf(exchange).head[0]?.status === 'completed');
  const folder = join(run.folder, 'live-loops', run.name);
  rmSync(`${folder}.part`, { recursive: true, force: true });
  mkdirSync(`${folder}.part`, { recursive: true, mode: 0o700 });
  for (const [index, { sent, text }] of rounds.entries()) {
    const file = join(`${folder}.part`, String(index + 1).padStart(2, '0'));
    writeFileSync(`${file}-request.json`, toRecordedBody(JSON.stringify(sent), run.redact));
    writeFileSync(`${file}-response.${text.startsWith('{') ? 'json' : 'sse'}`, toRecordedBody(text, run.redact));
  }
  // The model decides what it uses, and when.
  const closed = rounds.filter(({ sent }) => json(sent).includes('"external_web_access":false'));
  const sight = { requests: rounds.map(({ sent }) => sent), closed: closed.map((one) => sightOf(one).calls) };
  const judged = outcome.verdict === 'confirmed' ? judge(findingsOf(run, sight), outcome.seen) : outcome;
  if (judged.verdict !== 'confirmed') return judged;
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}.part`, folder);
  return judged;
}
