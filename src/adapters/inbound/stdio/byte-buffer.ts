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
    if (this.#end + chunk.length > this.#memory.length) this.#makeRoom(chunk.length);
    this.#memory.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** A view of the bytes, valid until the next `append`. */
  slice(from: number, to = this.length): Buffer {
    return this.#memory.subarray(this.#start + from, this.#start + Math.min(to, this.length));
  }

  at(index: number): number | undefined {
    return index < this.length ? this.#memory[this.#start + index] : undefined;
  }

  /** The index of a byte, or -1. */
  indexOf(byte: number, from: number): number {
    return this.slice(0).indexOf(byte, from);
  }

  drop(count: number): void {
    this.#start += count;
    if (this.#start < this.#end) return;
    this.#start = 0;
    this.#end = 0;
    if (this.#memory.length > 16 * SMALL_BYTES) this.#memory = Buffer.allocUnsafe(SMALL_BYTES);
  }

  /** Moves the bytes to the start of memory with room for `more`. Doubling keeps the total of copied bytes linear. */
  #makeRoom(more: number): void {
    const needed = this.length + more;
    const size = needed * 2 > this.#memory.length ? Math.max(SMALL_BYTES, needed * 2) : this.#memory.length;
    const memory = Buffer.allocUnsafe(size);
    this.#memory.copy(memory, 0, this.#start, this.#end);
    this.#end = this.length;
    this.#start = 0;
    this.#memory = memory;
  }
}
