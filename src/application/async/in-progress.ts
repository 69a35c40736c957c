/**
 * What is in progress, of which members come and go all the time. A `Set` makes a new table for every few of them, and while earlier tables
 * wait for a complete garbage collection, V8 keeps what they refer to: that takes a tenth of the time of a short call.
 */
export class InProgress<T> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  has(member: T): boolean {
    return this.#members.includes(member);
  }

  add(member: T): void {
    this.#members.push(member);
  }

  /** Whether it was a member. */
  delete(member: T): boolean {
    const index = this.#members.indexOf(member);
    const last = index < 0 ? undefined : this.#members.pop();
    if (last !== undefined && last !== member) this.#members[index] = last;
    return index >= 0;
  }

  /** Those that are members now. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#members].values();
  }
}
