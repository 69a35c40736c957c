// Figures that are taken in turn, and tables of them with limits.
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Takes a figure of each side in each round. Every round begins with the next side, so that other load on the machine is the same for all, and none of
 * three sides follows itself: a process that has just run is faster. Returns the figures by side.
 */
export async function inTurn(sides, rounds, take) {
  const figures = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < sides.length; turn += 1) {
      const index = (round + turn) % sides.length;
      figures[index].push(await take(sides[index]));
    }
  }
  return figures;
}

/**
 * A row of figures of the builds (ours, then the one beside it) next to those of the bare program: one list for all, or one for
 * each build. The limit, `{ atMost }` or `{ atLeast }`, is for the median of the ratios of figures of the same round.
 */
export function compared({ what, builds, bares, unit, limit }) {
  const columns = builds.map((figures, index) => {
    const bare = bares[index] ?? bares[0];
    const ratio = median(figures.map((figure, round) => figure / bare[round]));
    return { value: text(median(figures), unit), bare: text(median(bare), unit), ratio };
  });
  const shown = limit && (limit.atMost ? `≤ ${limit.atMost.toFixed(2)}` : `≥ ${limit.atLeast.toFixed(2)}`);
  const isKept = !(columns[0].ratio > limit?.atMost || columns[0].ratio < limit?.atLeast);
  return { what, columns, limit: shown, isKept };
}

/** A row of one figure for each build, with a maximum. */
export function bounded({ what, builds, unit, atMost }) {
  const columns = builds.map((value) => ({ value: text(value, unit) }));
  return { what, columns, limit: `≤ ${atMost} ${unit}`, isKept: builds[0] <= atMost };
}

/** Prints rows; returns whether all limits are kept. */
export function printRows(title, rows) {
  const ratio = (column) => column?.ratio?.toFixed(3) ?? '-';
  const isBesideShown = rows.some(({ columns }) => columns.length > 1);
  const cells = rows.map(({ what, columns: [ours, beside], limit, isKept }) => {
    const verdict = limit === undefined ? '' : isKept ? 'ok' : 'BROKEN';
    const cells = [what, ours.value, ours.bare ?? '-', ratio(ours), limit ?? '-', verdict];
    return isBesideShown ? [...cells, beside?.value ?? '-', ratio(beside)] : cells;
  });
  const head = ['', 'ours', 'bare', 'ratio', 'limit', ''];
  const table = [isBesideShown ? [...head, 'beside', 'ratio'] : head, ...cells];
  const widths = head.concat('', '').map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const [what, ...others] of table) {
    const padded = others.map((cell, index) => cell.padStart(widths[index + 1]));
    console.log(`  ${[what.padEnd(widths[0]), ...padded].join('  ').trimEnd()}`);
  }
  return rows.every(({ isKept }) => isKept);
}

function text(value, unit) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}
