/**
 * What makes two questions the same for recordings: Unicode form, case, blanks, closing marks and ISO dates do not count
 * (ruling 22).
 */
export function questionKey(query: string): string {
  return query
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\d{4}-\d{2}-\d{2}/g, '<date>')
    .replace(/[\s\u3000]+/g, '')
    .replace(/[?!.。、，,…]+$/u, '');
}
