// npm run bench [-- start calls http gateway idle check] [--rounds=N] [--beside=folder] [--cpu-prof=folder]: compares the built
// server with the smallest program that does the same work on this machine, and with another build folder, in the same run.
// The exit code is 1 if a limit is broken.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PROGRAM } from '../scripts/lib/stdio-client.js';
import { benchCalls } from './calls.js';
import { benchCheck } from './check.js';
import { benchGateway } from './gateway.js';
import { benchHttp } from './http.js';
import { benchIdle } from './idle.js';
import { benchStart } from './start.js';

const benches = {
  start: { run: benchStart, rounds: 60 },
  calls: { run: benchCalls, rounds: 15 },
  http: { run: benchHttp, rounds: 30 },
  gateway: { run: benchGateway, rounds: 40 },
  idle: { run: benchIdle, rounds: 20 },
  check: { run: benchCheck, rounds: 5 },
};

const options = process.argv.slice(2);
const optionValue = (name) => options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3);
const rounds = Number(optionValue('rounds') ?? Number.NaN);
const named = options.filter((option) => !option.startsWith('--'));
const beside = optionValue('beside');
const programs = beside === undefined ? [PROGRAM] : [PROGRAM, resolve(beside, 'index.js')];
const problems = [
  ...named.filter((name) => !Object.hasOwn(benches, name)).map((name) => `Unknown bench: ${name}.`),
  ...programs.filter((program) => !existsSync(program)).map((program) => `${program} does not exist.`),
];
if (problems.length > 0) {
  console.error([...problems, `Benches: ${Object.keys(benches).join(', ')}.`].join('\n'));
  process.exit(2);
}

const broken = [];
console.log(`Node.js ${process.versions.node}, ${process.platform} ${process.arch}; medians of rounds in alternation`);
if (beside !== undefined) console.log(`beside: ${programs[1]}`);
for (const name of named.length > 0 ? named : Object.keys(benches)) {
  const { run, rounds: usual } = benches[name];
  const areKept = await run({ programs, rounds: rounds || usual, profileFolder: optionValue('cpu-prof') });
  if (!areKept) broken.push(name);
}
console.log(broken.length === 0 ? '\nAll limits are kept.' : `\nLimits are BROKEN: ${broken.join(', ')}.`);
process.exit(broken.length === 0 ? 0 : 1);
