import { Marked, type MarkedToken, type Token } from 'marked';

/** The blocks of an answer. Each adapter shows them in its own way, and none as HTML. */
export function blocksOf(markdown: string): readonly Token[] {
  return PARSER.lexer(markdown);
}

/** Narrows a token to the types of marked itself: the lexer has no extensions, which could add other types. */
export function known(token: Token): MarkedToken {
  return token as MarkedToken;
}

/** Whether a link was written without a label, so that it shows its URL. */
export function isBareUrl({ raw }: Token): boolean {
  return !/^!?\[/.test(raw);
}

/** Keeps single line breaks, which models intend. The asterisks of `2*3*4` are not emphasis. */
const PARSER = new Marked({
  breaks: true,
  tokenizer: { emStrong: (src, _, before = '') => (src.startsWith('*') && /\d/.test(before) ? undefined : false) },
});
