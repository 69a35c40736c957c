const KEPT_CHARS = 16 * 1024;

/** npm begins an error with codes, and ends it with advice and the path of its log. */
const NPM_ERROR = /^npm (?:error|ERR!)/;
const NPM_REASON = /^npm (?:error|ERR!) (?!(?:code|errno|syscall|path|dest|command|signal|A complete log) )\S+ +\S/;

/** Node.js ends an error that nothing caught with its version, after the stack and the members of the error. */
const NODE_END = /^(?:Node\.js v\d|\(Use `\S* ?--trace-uncaught)/;
const NODE_REASON = /^(?:[\w$]*(?:Error|Exception)|UnhandledPromiseRejection)\b/;

/** The end of a text that arrives in parts, such as the standard error of a process. */
export class LastLines {
  readonly #onLine: ((line: string) => void) | undefined;
  #kept = '';
  /** The start of a line whose end has not arrived. */
  #partial = '';

  /** `onLine` gets each line that is not blank; of one that arrives in many parts, only the end. Without it, a flood of lines costs little. */
  constructor(onLine: ((line: string) => void) | undefined) {
    this.#onLine = onLine;
  }

  /** The last line that is not blank or, if npm or Node.js reports an error, the line with its reason; empty without any. */
  get last(): string {
    const lines = this.#kept.split('\n').map((line) => line.trimEnd());
    const words = lines.filter((line) => line !== '' && !line.startsWith('npm notice'));
    const last = words.at(-1) ?? '';
    let reason: string | undefined;
    if (NODE_END.test(last)) {
      // The lines after the carets that point to the place in the source code.
      const shown = words.slice(words.findLastIndex((line) => /^\s*\^+$/.test(line)) + 1);
      reason = shown.findLast((line) => NODE_REASON.test(line)) ?? shown.find((line) => !NODE_END.test(line));
    } else if (NPM_ERROR.test(last)) {
      reason = [NPM_REASON, NPM_ERROR].map((kind) => words.find((line) => kind.test(line))).find(Boolean);
    }
    return (reason ?? last).trim();
  }

  push(text: string): void {
    this.#kept = endOf(`${this.#kept}${text}`);
    if (this.#onLine === undefined) return;
    const lines = `${this.#partial}${text}`.split('\n');
    this.#partial = endOf(lines.pop() ?? '');
    for (const line of lines) if (line.trim() !== '') this.#onLine(line);
  }
}

/** The end of a text, from the start of a word, because the end of a secret alone would not be recognized. */
function endOf(text: string): string {
  return text.length <= KEPT_CHARS ? text : text.slice(-KEPT_CHARS).replace(/^\S+/, '');
}
