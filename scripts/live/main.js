import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { messageFor } from '../../src/adapters/inbound/words/error-messages.ts';
import { clip, withoutUnsafeCharacters } from '../../src/domain/values/clean-text.ts';
import { parseJson } from '../../src/domain/values/json.ts';
import { keyProblem, withoutKeyLike } from '../../src/domain/values/redaction.ts';
import { ANSWERS } from './answers.js';
import { skip, unknown, check as usual } from './check.js';
import { EVIDENCE, score } from './evidence.js';
import { converse } from './grounded.js';
import { LONG_ANSWERS } from './long-answers.js';
import { startProgram } from './program.js';

export const CHECKS = { ...ANSWERS, ...LONG_ANSWERS, ...EVIDENCE, grounded: converse, 'grounded-closed': converse };
const GROUPS = ['errors', 'answers', 'long-answers', 'grounded', 'evidence'];
const LOST = { connection_failed: 3, timed_out: 3, rate_limited: 2, server_error: 2 }; // Checks in a row: 6 end the run.
const [flag, text] = [{ type: 'boolean' }, { type: 'string' }];
const OPTIONS = { list: flag, yes: flag, long: flag, only: { ...text, multiple: true }, evidence: text, score: text };

/** Resolves with the exit code: 0 if something was found out and nothing is contradicted, 130 after an abort. Rejects for bad usage, and without a key. */
export async function live(args, terminal) {
  const { root, folder, out, confirm, signal, now = Date.now } = terminal;
  const options = parseArgs({ args, options: OPTIONS }).values;
  const entries = readEntries(root, options.list ? undefined : join(folder, 'live-report.json'));
  if (options.score !== undefined) {
    const alarms = entries.find(({ name }) => name === 'alarms');
    out(settle(alarms, score(options.score), withoutKeyLike, now()));
    writeReport(entries, folder);
    return alarms.verdict === 'confirmed' ? 0 : 1;
  }
  const { only = entries.map(({ name }) => name), evidence = '0' } = options;
  const words = new Set(entries.flatMap(({ name, group }) => [name, group]));
  for (const word of only) if (!words.has(word)) throw new Error(`There is no check ${word}: see --list.`);
  if (!/^\d+$/.test(evidence)) throw new Error('--evidence needs a number of questions.');
  const questions = readFileSync(join(root, 'scripts/live/questions.txt'), 'utf8').match(/.+/g).slice(0, evidence);
  const named = entries.filter(({ name, group }) => only.includes(name) || only.includes(group));
  const selected = entries.filter(({ name }) => named.some((entry) => name === entry.name || name === entry.reads));
  for (const { name, group, assumption } of selected) out(`${name.padEnd(16)} ${group.padEnd(13)} ${assumption}\n`);
  const times = { evidence: questions.length, long: options.long ? 1 : 0, hand: 0 };
  const sum = (index) => selected.reduce((total, entry) => total + entry.cost[index] * (times[entry.times] ?? 1), 0);
  out(`\nEstimate: ${sum(0)} requests, ${sum(1)} searches, ${sum(2)} thousand tokens. Verdicts: live-report.md\n`);
  if (options.list) return 0;
  const temporary = mkdtempSync(join(tmpdir(), 'live-'));
  const shared = { limitMs: 60_000, ...terminal, now, temporary, questions };
  try {
    const { config, redactor, close } = await startProgram({}, shared);
    await close();
    const { apiKey, apiKeyVariable: variable, baseUrl: api, organization, project } = config.openai;
    const kind = keyProblem(apiKey);
    if (kind !== undefined) throw new Error(messageFor({ kind, variable }));
    if (!options.yes && confirm === undefined) throw new Error('Add --yes to begin without a question.');
    if (!options.yes && !(await confirm(`Begin, at ${api}? [y/N] `))) return signal.aborted ? 130 : 0;
    writeReport(entries, folder); // Before anything is paid for.
    const exchanges = Object.fromEntries(selected.map(({ name }) => [name, []]));
    const of = (name) => exchanges[name] ?? Object.values(exchanges).flat();
    const account = createHash('sha256').update([api, apiKey, organization, project].join(' ')).digest('hex');
    let [hasFound, lost] = [false, 0];
    for (const [index, entry] of selected.entries()) {
      if (entry.api && entry.api !== api) entry.verdict = 'unknown'; // `--score` asks none.
      const start = (given, more) => startProgram(given, { ...shared, all: exchanges[entry.name], ...more });
      const run = { ...shared, ...entry, redact: redactor.anywhere, account: account.slice(0, 8), of, start };
      out(`${index + 1}/${selected.length} ${entry.name}: `);
      const check = times[entry.times] === 0 ? skip : (CHECKS[entry.name] ?? usual);
      const outcome = await check(run).catch((error) => unknown(String(error)));
      if (signal.aborted) Object.assign(outcome, { verdict: 'unknown', seen: `${outcome.seen}\ninterrupted` });
      out(settle(entry, { ...outcome, api }, redactor.inLogs, now()));
      writeReport(entries, folder);
      if (signal.aborted) return 130;
      hasFound ||= outcome.verdict !== 'unknown';
      const weight = outcome.isFinal ? 6 : (LOST[outcome.kind] ?? 0);
      if (outcome.kind || outcome.verdict !== 'unknown') lost = weight && lost + weight;
      if (lost < 6 || entry === selected.at(-1)) continue;
      out('Stopped: every other check would fail the same way.\n');
      return 1;
    }
    if (!hasFound) out('Nothing was found out.\n');
    return hasFound && selected.every(({ verdict }) => verdict !== 'contradicted') ? 0 : 1;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The checks in the order in which they run, with the verdicts of an earlier report: a run may be one of a few checks. */
export function readEntries(root, file) {
  const report = file && existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : { checks: [] };
  if (!Array.isArray(report?.checks)) throw new Error(`${file} is damaged: delete it, or restore an earlier one.`);
  return GROUPS.flatMap((group) => {
    const checks = parse(readFileSync(join(root, `scripts/live/checks/${group}.yaml`), 'utf8'));
    return Object.entries(checks).map(([name, check]) => {
      const earlier = report.checks.find((one) => one?.name === name);
      return { verdict: 'unknown', seen: 'not run', cost: [0, 0, 0], ...earlier, ...check, name, group };
    });
  }).toSorted((one, other) => Boolean(one.isLast) - Boolean(other.isLast));
}

/** Returns the line for the terminal. What another run has found out remains, if it asked the same API. */
function settle(entry, { verdict, seen, api = '', note = entry.note }, redact, now) {
  const mask = (it) => withoutUnsafeCharacters(redact(it)).replace(/\b(org-|proj_)\w+|[\w-]+\*{3,}[\w-]*/g, '$1...');
  const news = { verdict, seen: clip(mask(seen), 4000), api: mask(api), at: new Date(now).toISOString() };
  Object.assign(entry, { note }, (verdict !== 'unknown' || entry.verdict === 'unknown') && news);
  return `${verdict}${verdict === 'confirmed' ? '' : `: ${news.seen}`}\n`;
}

const toText = ({ name, assumption, place, verdict, seen, api = '', at = '' }) =>
  `## ${verdict}: ${name}\n\n${assumption}.\n\nPlace: \`${place}\`. ${api} ${at}\n\n~~~text\n${seen}\n~~~`;
/** Replaces the report by rename: it is always complete. */
function writeReport(entries, folder) {
  const keys = 'checks name group place assumption verdict seen api at note id account'.split(' ');
  const orderOf = ({ verdict }) => 'contradicted unknown confirmed'.indexOf(verdict);
  const sorted = entries.toSorted((one, other) => orderOf(one) - orderOf(other));
  const files = { json: JSON.stringify({ checks: entries }, keys, 2), md: sorted.map(toText).join('\n\n') };
  for (const [type, text] of Object.entries(files)) {
    const file = join(folder, `live-report.${type}`);
    writeFileSync(`${file}.part`, `${text}\n`, { mode: 0o600 });
    renameSync(`${file}.part`, file);
  }
}
