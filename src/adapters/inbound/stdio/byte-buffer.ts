const SMALL_BYTES = 64 * 1024;

/** A queue of bytes: appended at the end, dropped from the start. The time is linear in the number of bytes. */
export class ByteBuffer {
  #memory = Buffer.allocUnsafe(SMALL_BYTES);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#memory.length) {
      const kept = this.slice();
      // Doubling keeps the total of copied bytes linear.
      this.#memory = Buffer.allocUnsafe(Math.max(SMALL_BYTES, 2 * (kept.length + chunk.length)));
      this.#end = kept.copy(this.#memory);
      this.#start = 0;
    }
    this.#memory.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** A view of the bytes, valid until the next `append`. */
  slice(from = 0, to = this.length): Buffer {
    return this.#memory.subarray(this.#start + from, this.#start + Math.min(to, this.length));
  }

  drop(count: number): void {
    this.#start += count;
    if (this.#start < this.#end) return;
    this.#start = 0;
    this.#end = 0;
    if (this.#memory.length > 16 * SMALL_BYTES) this.#memory = Buffer.allocUnsafe(SMALL_BYTES);
  }
}
