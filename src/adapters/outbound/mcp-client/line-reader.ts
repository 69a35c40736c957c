import { JsonNesting, MAX_NESTING } from '../../../domain/values/json-nesting.ts';

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** How much of a line that is not read is kept at its start and at its end. */
const KEPT_BYTES = 256;

/**
 * How many objects, lists and members a message may have, as `JsonNesting` counts them. To read and write the result of a call takes at most a
 * second and 70 MB: a table of 150,000 rows with seven columns has fewer. No caller waits for other messages: to read a list, which the client
 * does not examine, or another one, which it does, delays other servers by less than 100 ms.
 */
const MAX_PARTS = { call: 1_250_000, list: 250_000, other: 20_000 };

/** So many numbers or texts in lists take as long as one part. They count in what is no result of a call. */
const ITEMS_PER_PART = 8;

/** What a message answers. */
export type Answered = keyof typeof MAX_PARTS;

/** Why a message is not read. */
export type Excess = 'too_large' | 'too_deep' | 'too_many_parts' | 'too_many_parts_of_list';

/** The start and the end of a line. */
export interface LineEnds {
  readonly head: string;
  readonly tail: string;
}

/** The parts of a line as they arrived, or the start and the end of one that exceeds a limit. */
export type ReadLine = { readonly chunks: readonly Buffer[] } | (LineEnds & { readonly excess: Excess });

/** What the response to a request of this method answers. */
export function answeredBy(method: unknown): Answered {
  if (method === 'tools/call' || method === 'resources/read' || method === 'prompts/get') return 'call';
  return String(method).endsWith('/list') ? 'list' : 'other';
}

/**
 * Splits bytes into lines of at most `maxBytes`, and looks how deeply they nest and how many parts they have. Memory stays bounded, and
 * each chunk is looked at when it arrives, so that the end of a long line costs no more than that of a short one.
 */
export class LineReader {
  readonly #maxBytes: number;
  readonly #answered: (line: LineEnds) => Answered;
  #chunks: Buffer[] = [];
  #length = 0;
  #nesting = new JsonNesting(MAX_NESTING);
  #excess: Excess | undefined;
  /** The end of a line that exceeds a limit. */
  #tail: Buffer = NOTHING;

  /** `answered`: what a line with many parts answers. */
  constructor(maxBytes: number, answered: (line: LineEnds) => Answered) {
    this.#maxBytes = maxBytes;
    this.#answered = answered;
  }

  /** The lines that end in the next chunk. Each is read when it is asked for; all must be. */
  *linesOf(chunk: Buffer): Generator<ReadLine> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      yield this.#end();
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #append(bytes: Buffer): void {
    const wasKept = this.#excess === undefined;
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) this.#excess = 'too_large';
    else this.#excess ??= partsExcess(this.#nesting, bytes);
    if (wasKept) this.#chunks.push(bytes);
    if (this.#excess === undefined) return;
    const end = wasKept ? Buffer.concat(this.#chunks) : Buffer.concat([this.#tail, bytes.subarray(-KEPT_BYTES)]);
    if (wasKept) this.#chunks = [Buffer.from(end.subarray(0, KEPT_BYTES))];
    this.#tail = Buffer.from(end.subarray(-KEPT_BYTES));
  }

  #end(): ReadLine {
    const [chunks, excess, tail, nesting] = [this.#chunks, this.#excess, this.#tail, this.#nesting];
    this.#chunks = [];
    this.#length = 0;
    this.#nesting = new JsonNesting(MAX_NESTING);
    this.#excess = undefined;
    this.#tail = NOTHING;
    if (excess !== undefined) return { head: String(chunks[0]), tail: tail.toString(), excess };
    if (excessOf(nesting, 'other') === undefined) return { chunks };
    const line = Buffer.concat(chunks);
    const ends = { head: line.toString('utf8', 0, KEPT_BYTES), tail: line.subarray(-KEPT_BYTES).toString() };
    const tooMany = excessOf(nesting, this.#answered(ends));
    return tooMany === undefined ? { chunks: [line] } : { ...ends, excess: tooMany };
  }
}

/** What a message exceeds with its next bytes. */
export function partsExcess(nesting: JsonNesting, bytes: Uint8Array, answered: Answered = 'call'): Excess | undefined {
  return nesting.exceeds(bytes) ? 'too_deep' : excessOf(nesting, answered);
}

function excessOf({ parts, commas }: JsonNesting, answered: Answered): Excess | undefined {
  const items = answered === 'call' ? 0 : commas / ITEMS_PER_PART;
  if (Math.max(parts, items) <= MAX_PARTS[answered]) return undefined;
  return answered === 'list' ? 'too_many_parts_of_list' : 'too_many_parts';
}
