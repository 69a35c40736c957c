import { Marked, type MarkedToken, type Token } from 'marked';

/** The blocks of an answer. Each adapter shows them in its own way, and none as HTML. */
export function blocksOf(markdown: string): readonly Token[] {
  return PARSER.lexer(markdown);
}

/** A token with the members of its type: the lexer has no extensions, which could add others. */
export function known(token: Token): MarkedToken {
  return token as MarkedToken;
}

/** Whether a link shows its own URL: it was written without a label. */
export function isBareUrl({ raw }: Token): boolean {
  return !/^!?\[/.test(raw);
}

/** Models mean their line breaks. The stars of `2*3*4` are no emphasis. */
const PARSER = new Marked({
  breaks: true,
  tokenizer: { emStrong: (src, _, before = '') => (src.startsWith('*') && /\d/.test(before) ? undefined : false) },
});
