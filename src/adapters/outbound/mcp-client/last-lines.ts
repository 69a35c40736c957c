/** How much of a text is kept. */
const KEPT_CHARS = 16 * 1024;

/** The end of a text that arrives in parts, such as the standard error of a process (ruling G8). */
export class LastLines {
  readonly #onLine: (line: string) => void;
  #kept = '';
  /** The start of a line whose end has not arrived. */
  #partial = '';

  /** `onLine` gets each line that is not blank, at most as long as what is kept. */
  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** The last line that is not blank; empty if there is none. */
  get last(): string {
    return this.#kept.trimEnd().split('\n').at(-1)?.trim() ?? '';
  }

  push(text: string): void {
    this.#kept = `${this.#kept}${text}`.slice(-KEPT_CHARS);
    const lines = `${this.#partial}${text}`.split('\n');
    this.#partial = (lines.pop() ?? '').slice(-KEPT_CHARS);
    for (const line of lines) if (line.trim() !== '') this.#onLine(line);
  }
}
