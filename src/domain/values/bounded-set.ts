const MAX_SIZE = 1000;

/** A set that keeps the last 1,000 values, for names that servers choose. */
export class BoundedSet extends Set<string> {
  override add(value: string): this {
    if (this.has(value)) return this;
    const [oldest] = this.size < MAX_SIZE ? [] : this;
    if (oldest !== undefined) this.delete(oldest);
    return super.add(value);
  }
}
