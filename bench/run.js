// npm run bench [-- start calls http gateway idle check] [--rounds=N] [--cpu-prof=folder]: compares the built server with the smallest
// program that does the same work on this machine. The exit code is 1 if a limit is broken.
import { benchCalls } from './calls.js';
import { benchCheck } from './check.js';
import { benchGateway } from './gateway.js';
import { benchHttp } from './http.js';
import { benchIdle } from './idle.js';
import { benchStart } from './start.js';

const ROUNDS = { start: 60, calls: 5, http: 20, gateway: 60, idle: 20, check: 5 };
const benches = {
  start: (rounds) => benchStart(rounds),
  calls: (rounds, profileFolder) => benchCalls(rounds, profileFolder),
  http: (rounds) => benchHttp(rounds),
  gateway: (rounds, profileFolder) => benchGateway(rounds, profileFolder),
  idle: (rounds) => benchIdle(rounds),
  check: (rounds) => benchCheck(rounds),
};

const options = process.argv.slice(2);
const optionValue = (name) => options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3);
const rounds = Number(optionValue('rounds') ?? Number.NaN);
const named = options.filter((option) => !option.startsWith('--'));
const unknown = named.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Known: ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}

let areKept = true;
console.log(`Node.js ${process.versions.node}, ${process.platform} ${process.arch}`);
for (const name of named.length > 0 ? named : Object.keys(benches)) {
  const kept = await benches[name](rounds || ROUNDS[name], optionValue('cpu-prof'));
  areKept &&= kept;
}
console.log(areKept ? '\nAll limits are kept.' : '\nA limit is BROKEN.');
process.exit(areKept ? 0 : 1);
