/**
 * The words of a command, separated as in a shell: by blanks and line breaks, with single and double quotes and the backslash. Nothing else has a
 * meaning. Undefined without a word, or if a quotation is not closed.
 */
export function commandWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (isBlank(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (isQuote(char)) {
      const end = endOfQuotation(text, at);
      if (end === undefined) return undefined;
      word = (word ?? '') + quoted(text.slice(at + 1, end), char);
      at = end;
    } else if (char === '\\' && at + 1 < text.length) {
      at += 1;
      word = (word ?? '') + text.charAt(at);
    } else word = (word ?? '') + char;
  }
  if (word !== undefined) words.push(word);
  return words.length > 0 ? words : undefined;
}

/** The index of the first `}` outside quotations; undefined if there is none. A quotation mark without a second one is no quotation. */
export function endOfReference(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '}') return at;
    if (isQuote(char)) at = endOfQuotation(text, at) ?? at;
    else if (char === '\\' && text.charAt(at + 1) !== '}') at += 1;
  }
  return undefined;
}

/** The text without its quotation marks, if it is one quotation. */
export function unquoted(text: string): string {
  const mark = text.charAt(0);
  return isQuote(mark) && endOfQuotation(text, 0) === text.length - 1 ? quoted(text.slice(1, -1), mark) : text;
}

/** The index of the mark that closes the quotation at `start`. Within double quotes, a backslash takes the meaning from the next character. */
function endOfQuotation(text: string, start: number): number | undefined {
  const mark = text.charAt(start);
  for (let at = start + 1; at < text.length; at += 1) {
    if (text.charAt(at) === mark) return at;
    if (mark === '"' && text.charAt(at) === '\\') at += 1;
  }
  return undefined;
}

/** The content of a quotation. Within double quotes, a backslash before another character than these is an ordinary one. */
function quoted(content: string, mark: string): string {
  if (mark === "'") return content;
  let read = '';
  for (let at = 0; at < content.length; at += 1) {
    if (content.charAt(at) === '\\' && '"\\$`'.includes(content.charAt(at + 1))) at += 1;
    read += content.charAt(at);
  }
  return read;
}

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}

function isQuote(char: string): boolean {
  return char === '"' || char === "'";
}
