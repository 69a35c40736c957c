/** A map with the values that were set last, at most so many: what callers or the web name must not fill the memory. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  /** The value becomes the latest, also if the key was there. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#maxSize && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
