/** A text of parts that equal their source, with the place of each character. */
export class PlacedText {
  readonly #parts: string[] = [];
  /** The index at which each part begins, and its place in the source. */
  readonly #starts: number[] = [];
  readonly #places: number[] = [];
  #length = 0;
  #joined: string | undefined;

  /** The text; the parts are joined once. */
  get text(): string {
    this.#joined ??= this.#parts.join('');
    return this.#joined;
  }

  add(text: string, at: number): void {
    if (text === '') return;
    this.#starts.push(this.#length);
    this.#places.push(at);
    this.#parts.push(text);
    this.#length += text.length;
    this.#joined = undefined;
  }

  /** Adds a part of another text, with its places. */
  addPart(other: PlacedText, start: number, end: number): void {
    let from = start;
    for (let part = other.#partAt(start) + 1; from < end; part += 1) {
      const to = Math.min(end, other.#starts[part] ?? end);
      this.add(other.text.slice(from, to), other.placeOf(from));
      from = to;
    }
  }

  /** The place in the source of the character at an index. */
  placeOf(index: number): number {
    const part = this.#partAt(index);
    return (this.#places[part] ?? 0) + index - (this.#starts[part] ?? 0);
  }

  /** The last part that begins at an index or before it. */
  #partAt(index: number): number {
    let [from, to] = [0, this.#starts.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#starts[middle] ?? 0) <= index) from = middle + 1;
      else to = middle;
    }
    return Math.max(0, from - 1);
  }
}
