/** Closes the block of code in which a text may end, so that following text is not part of it. */
export function closeFence(text: string): string {
  const open = text.split('\n').reduce((fence, line) => fenceAfter(line, fence), '');
  return open === '' ? text : `${text}\n${open}`;
}

/** The fence of code that is open after a line, or ''. At least as many of the same marks close it. */
export function fenceAfter(line: string, open: string): string {
  const marks = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
  if (open === '') return marks;
  return marks.startsWith(open) && line.trim() === marks ? '' : open;
}
