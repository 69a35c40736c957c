/** A text that was cut inside a block of code, with the block ended: what follows must not stand in it. */
export function closeFence(text: string): string {
  const open = text.split('\n').reduce((fence, line) => fenceBehind(line, fence), '');
  return open === '' ? text : `${text}\n${open}`;
}

/** The fence of code that is open behind a line, '' if none is: one ends with at least as many of its own marks. */
export function fenceBehind(line: string, open: string): string {
  const marks = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
  if (open === '') return marks;
  return marks.startsWith(open) && line.trim() === marks ? '' : open;
}
