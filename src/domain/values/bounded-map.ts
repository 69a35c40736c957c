/** A map that keeps only the values that were set last, so that names from callers or the web cannot fill the memory. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  /** Makes the value the latest, also if the key exists. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#maxSize && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
