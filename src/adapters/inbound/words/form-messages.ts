/** The words of a form of a server in the terminal. */
export const FORM = {
  keys: '(Ctrl-D: decline, Ctrl-C: cancel)',
  openAt: (host: string) => `Open this URL, at ${host}, in your browser:`,
  openUrl: 'Open this address in your browser:',
  enter: 'Press Enter to accept: ',
  accept: 'Press Enter to accept, Ctrl-D to decline or Ctrl-C to cancel.',
  required: 'A value is required.',
  optional: ', optional',
  expected: (hint: string) => `Expected: ${hint}.`,
  yesOrNo: 'Expected: y or n.',
  choose: (count: number) => `Expected: a number from 1 to ${count}.`,
  chooseSeveral: (count: number) => `Expected: numbers from 1 to ${count}, such as 1,${Math.min(count, 2)}.`,
  several: '; several as 1,2',
  amount: (least: number, most: number) => `Expected: ${between(least, most)} of these.`,
  text: 'text',
  email: 'e-mail address',
  uri: 'URL',
  date: 'date, such as 2026-01-31',
  dateTime: 'date and time, such as 2026-01-31T09:00:00Z',
  number: 'number',
  wholeNumber: 'whole number',
  range: (least: number, most: number) => prefixed(between(least, most)),
  length: (least: number, most: number) => {
    const range = between(least === 0 ? Number.NEGATIVE_INFINITY : least, most);
    return prefixed(range === '' ? '' : `${range} ${range.endsWith(' 1') ? 'character' : 'characters'}`);
  },
} as const;

function prefixed(range: string): string {
  return range === '' ? '' : `, ${range}`;
}

function between(least: number, most: number): string {
  if (least === most) return String(least);
  if (Number.isFinite(least) && Number.isFinite(most)) return `${least} to ${most}`;
  if (Number.isFinite(most)) return `at most ${most}`;
  return Number.isFinite(least) ? `at least ${least}` : '';
}
