// The tools of the servers that ask (MCP, elicitation), for every revision: each asks by `ask`, which resolves with the answer of the person.

const FORM = {
  type: 'object',
  properties: { sure: { type: 'boolean', default: false }, reason: { type: 'string', minLength: 1 } },
  required: ['sure'],
};

const form = (message, requestedSchema = FORM) => ({ message, requestedSchema });

/** What each tool asks: it gets its arguments and `ask`, and returns a text. */
export const ASKING = {
  delete: async ({ files = 3 }, ask) => ask(form(`Delete ${files} files?`)),
  visit: async (_, ask) =>
    ask({ mode: 'url', message: 'Sign in', url: 'https://example.com/login?a=1', elicitationId: 'visit-1' }),
  twice: async (_, ask) => [await ask(form('First?')), await ask(form('Second?'))],
  many: async (_, ask) => {
    const answers = [];
    for (let index = 1; index <= 12; index += 1) answers.push(await ask(form(`Question ${index}?`)));
    return answers;
  },
  huge: async (_, ask) => ask(form('x'.repeat(70_000))),
  odd: async (_, ask) => ask(form('Where?', { type: 'object', properties: { place: { type: 'object' } } })),
  hidden: async (_, ask) => ask(form('Delete \u001b[31m3\u001b[0m \u202efiles?\u0007')),
  echo: async ({ text = '' }) => text,
};

/** The list of these tools, as `tools/list` answers it. */
export const ASKING_TOOLS = Object.keys(ASKING).map((name) => ({
  name,
  description: `Asks, and returns the answers (${name}).`,
  inputSchema: { type: 'object' },
}));

export const toResult = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});
