// Plays the script in the JSON file that an argument names, and appends what happens to the log that the script names, one JSON object
// per line.
import { appendFileSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const { tools, calls, log } = JSON.parse(readFileSync(process.argv[3], 'utf8'));
const write = (event) => appendFileSync(log, `${JSON.stringify(event)}\n`);

/** The reaction to a call: the first for these arguments. One with arguments is used once; without arguments, always. */
function reactionTo(name, args) {
  const reactions = calls[name] ?? [];
  const index = reactions.findIndex(({ args: expected = args }) => isDeepStrictEqual(expected, args));
  const reaction = reactions[index];
  if (reaction !== undefined && 'args' in reaction) reactions.splice(index, 1);
  return reaction ?? { result: { isError: true, content: [{ type: 'text', text: `${name} was not expected` }] } };
}

function run(name, args) {
  write({ event: 'call', name, args });
  const { result, error } = reactionTo(name, args);
  if (error !== undefined) throw error;
  return result;
}

export const TOOLS = Object.fromEntries(
  tools.map(({ name, ...tool }) => [name, { ...tool, run: (args) => run(name, args) }]),
);

write({ event: 'start', pid: process.pid });
