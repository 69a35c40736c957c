// Medians, and tables of figures with limits.
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of the ratios of figures that were measured one after the other, because varying load changes both. */
export function medianRatio(figures, others) {
  return median(figures.map((figure, index) => figure / others[index]));
}

/** One row: ours next to the bare one. `costs` is how many times as much ours costs; a limit is its maximum. */
export function compared(what, ours, bare, unit, limit = undefined, costs = ours / bare) {
  return { what, ours: `${round(ours)} ${unit}`, bare: `${round(bare)} ${unit}`, ratio: costs, limit };
}

/** Prints rows of `compared`; returns whether all limits are kept. */
export function printCompared(title, rows) {
  const cells = rows.map(({ what, ours, bare, ratio, limit }) => {
    const verdict = limit === undefined ? '' : isKept({ ratio, limit }) ? 'ok' : 'BROKEN';
    return [what, ours, bare, ratio.toFixed(3), limit === undefined ? '-' : limit.toFixed(2), verdict];
  });
  printTable(title, ['', 'ours', 'bare', 'ratio', 'limit', ''], cells);
  return rows.every(isKept);
}

/** Prints rows {what, value, unit, limit}, of which the limit is a maximum; returns whether all limits are kept. */
export function printBounded(title, rows) {
  const cells = rows.map(({ what, value, unit, limit }) => [
    what,
    `${round(value)} ${unit}`,
    `${limit} ${unit}`,
    value <= limit ? 'ok' : 'BROKEN',
  ]);
  printTable(title, ['', 'ours', 'limit', ''], cells);
  return rows.every(({ value, limit }) => value <= limit);
}

function isKept({ ratio, limit }) {
  return limit === undefined || ratio <= limit;
}

export function printTable(title, head, rows) {
  const widths = head.map((name, column) =>
    Math.max(...[name, ...rows.map((row) => row[column])].map((cell) => cell.length)),
  );
  const line = (cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ');
  console.log(`\n${title}`);
  for (const row of [head, ...rows]) console.log(`  ${line(row).trimEnd()}`);
}

export function round(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
