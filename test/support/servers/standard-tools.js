/** How many tools a page of the list has. */
const PAGE = 4;

const OBJECT = { type: 'object' };

/** The tools with which a test sees everything that a `ToolServer` promises. Each server of the tests has them. */
export class StandardTools {
  /** Called when the list of tools has changed. */
  onChanged = () => {};
  /** Called when that of prompts has. */
  onPromptsChanged = () => {};
  /** Of calls of `wait`. */
  #cancellations = 0;
  #onCancelled = new Set();
  #added = [];
  #endless;

  /** Lists so many tools on each page, and always one page more. */
  listWithoutEnd(perPage) {
    this.#endless = perPage;
  }

  /** A page of the list, as `tools/list` answers it. */
  list(cursor) {
    if (this.#endless !== undefined) return endlessPage(Number(cursor ?? 0), this.#endless);
    const all = [
      {
        name: 'echo',
        title: 'Echo',
        description: 'Answers with its text.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        annotations: { readOnlyHint: true },
      },
      { name: 'sum', inputSchema: OBJECT, outputSchema: { type: 'object', properties: { sum: { type: 'number' } } } },
      { name: 'fail', description: 'Answers with an error of the tool.', inputSchema: OBJECT },
      { name: 'refuse', description: 'Answers with a JSON-RPC error.', inputSchema: OBJECT },
      { name: 'steps', description: 'Reports three steps before it answers.', inputSchema: OBJECT },
      { name: 'wait', description: 'Reports that it runs, and waits until it is cancelled.', inputSchema: OBJECT },
      { name: 'cancelled', description: 'Answers as soon as a call was cancelled.', inputSchema: OBJECT },
      {
        name: 'big',
        description: 'Answers with a text of `size` characters, or a value of `depth` levels.',
        inputSchema: OBJECT,
      },
      { name: 'change', description: 'Adds a tool.', inputSchema: OBJECT },
      ...this.#added,
    ];
    const start = Number(cursor ?? 0);
    const isLast = start + PAGE >= all.length;
    return { tools: all.slice(start, start + PAGE), ...(isLast ? {} : { nextCursor: String(start + PAGE) }) };
  }

  /** A page of the list of prompts. */
  listPrompts(cursor) {
    return cursor === undefined
      ? { prompts: [{ name: 'echo' }], nextCursor: 'more' }
      : { prompts: [{ name: 'wait' }, { name: 'change' }] };
  }

  /** Answers `prompts/get`. The prompts `change` and `wait` do what those tools do. */
  async getPrompt(name, args, signal) {
    if (name === 'refuse') throw Object.assign(new Error('not allowed'), { code: 4711, data: { field: 'a' } });
    if (name === 'change') this.onPromptsChanged();
    if (name === 'wait') await this.call('wait', {}, { signal, onProgress: () => {} });
    return { description: JSON.stringify(args), messages: [] };
  }

  /** Answers a call, or throws a JSON-RPC error. */
  async call(name, args, { onProgress, signal }) {
    switch (name) {
      case 'echo':
        return text(args.text);
      case 'sum':
        return { content: [], structuredContent: { sum: args.a + args.b } };
      case 'fail':
        return { ...text('it did not work'), isError: true };
      case 'refuse':
        throw Object.assign(new Error('not allowed'), { code: 4711, data: { field: 'a' } });
      case 'steps':
        for (const progress of [1, 2, 3]) await onProgress({ progress, total: 3, message: `step ${progress}` });
        return text('done');
      case 'wait':
        await onProgress({ progress: 0 });
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        this.#cancellations += 1;
        for (const look of this.#onCancelled) look();
        return text('cancelled');
      case 'cancelled':
        return new Promise((resolve) => {
          const look = () => {
            if (this.#cancellations === 0) return;
            this.#onCancelled.delete(look);
            resolve(text(String(this.#cancellations)));
          };
          this.#onCancelled.add(look);
          look();
        });
      case 'big':
        if (args.depth !== undefined) {
          const value = JSON.parse(`${'['.repeat(args.depth)}${']'.repeat(args.depth)}`);
          return { content: [], structuredContent: { value } };
        }
        return text('x'.repeat(args.size));
      case 'change':
        this.#added.push({ name: `added${this.#added.length + 1}`, inputSchema: OBJECT });
        this.onChanged();
        return text('changed');
      default:
        throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 });
    }
  }
}

function endlessPage(page, perPage) {
  if (page > 20) throw new Error('So many pages must not be read.');
  const tools = Array.from({ length: perPage }, (_, index) => ({ name: `tool-${page}-${index}`, inputSchema: OBJECT }));
  return { tools, nextCursor: String(page + 1) };
}

function text(text) {
  return { content: [{ type: 'text', text }] };
}
