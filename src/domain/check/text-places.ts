/** A place in a text, from 1. Columns count UTF-16 code units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Finds the line and the column of a place in a text. */
export function placesIn(source: string): (at: number) => Place {
  const starts = [0];
  for (let at = 0; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (character === '\n' || (character === '\r' && source.charAt(at + 1) !== '\n')) starts.push(at + 1);
  }
  return (at) => {
    let [from, to] = [0, starts.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((starts[middle] ?? 0) <= at) from = middle + 1;
      else to = middle;
    }
    return { line: from, column: at - (starts[from - 1] ?? 0) + 1 };
  };
}
