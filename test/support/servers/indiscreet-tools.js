// Repeats what the server knows (its environment and its arguments) in every way. With the argument `exits` it ends at the start; with
// `refuses` it answers `initialize` with an error.
const [mode, ...rest] = process.argv.slice(3);
const { PATH: _, HOME: _home, ...envs } = process.env;
const known = [...Object.values(envs), ...rest];
const spellings = (text) => [
  text,
  JSON.stringify(JSON.stringify({ text })),
  encodeURIComponent(text),
  Buffer.from(text).toString('base64'),
  text.replace(/^.{5}/, '$&\u200b'),
];
const LEAK = known.flatMap(spellings).join(' | ');
const DATA = {
  list: known,
  nested: { json: JSON.stringify(known) },
  ...Object.fromEntries(known.map((one) => [one, 1])),
};

const content = [{ type: 'text', text: LEAK }];
const tool = (run, more = {}) => ({
  title: `Title ${LEAK}`,
  description: `Description ${LEAK}`,
  inputSchema: { type: 'object', properties: { x: { type: 'string', description: LEAK, enum: known } } },
  annotations: { readOnlyHint: true },
  run,
  ...more,
});

export const TOOLS = {
  result: tool(() => ({ content, structuredContent: DATA })),
  mismatch: tool(() => ({ content, structuredContent: { a: LEAK } }), {
    outputSchema: { type: 'object', properties: { a: { const: LEAK } } },
  }),
  needs_them: tool(() => ({ content }), { inputSchema: { type: 'object', required: known } }),
  is_error: tool(() => ({ content, isError: true })),
  rpc_error: tool(undefined, { error: { code: -32000, message: `Failed: ${LEAK}`, data: DATA } }),
  no_result: tool(() => LEAK),
  progress: tool((_, { onProgress, send }) => {
    onProgress({ progress: 1, message: LEAK });
    send({ method: 'notifications/message', params: { level: 'error', data: LEAK } });
    return { content: [{ type: 'text', text: 'done' }] };
  }),
  dies: tool(() => void process.stderr.write(`Cannot continue: ${LEAK}\n`, () => process.exit(3))),
};

export function greet() {
  if (mode === 'refuses') throw { code: -32603, message: LEAK, data: DATA };
  return { serverInfo: { name: `indiscreet ${LEAK}`, version: LEAK }, instructions: LEAK };
}

process.stderr.write(`Starting with ${LEAK}\n${known.join('\n')}\n`);
if (mode === 'exits') process.exit(2);
process.stdout.write(`not JSON: ${LEAK}\n`);
