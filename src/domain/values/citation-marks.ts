import { fencedLines } from './code-fence.ts';
import { isObject, parseJson } from './json.ts';

/** ChatGPT's marks: U+E200 opens, U+E202 separates the kind of a mark from its names and references, U+E201 closes. */
const MARKS = /( ?)((?:\uE200[^\uE200\uE201\n]*\uE201)+)(?=(.|\n|$))/g;
const UNCLOSED_MARK = /\uE200[\w\uE202]*$/;
const STRAY_MARK = /[\uE200-\uE202]/g;

/** A text without ChatGPT's marks. A name or a label in a mark stays, because it is a word of its sentence; a reference goes. */
export function withoutMarks(text: string): string {
  if (!/[\uE200-\uE202]/.test(text)) return text;
  return text
    .replace(MARKS, (_, space: string, marks: string, next: string) => {
      const label = labelsIn(marks);
      return label === '' ? gapBefore(next, space) : `${space}${label}`;
    })
    .replace(UNCLOSED_MARK, '')
    .replace(STRAY_MARK, '');
}

/** What stays of the blank before a removed mark: nothing before the end of a sentence. */
function gapBefore(next: string, space: string): string {
  return /^[^\s.,;:!?)。、]/.test(next) ? space : '';
}

function labelsIn(marks: string): string {
  const inner = marks.split(/[\uE200\uE201]+/).filter((mark) => mark !== '');
  return inner
    .map(labelOf)
    .filter((label) => label !== '')
    .join(' ');
}

/** The name or label in a mark; empty if the mark has references only. */
function labelOf(mark: string): string {
  const [kind = '', ...fields] = mark.split('\uE202');
  if (kind.includes('cite')) return '';
  return fields.map(nameIn).find((name) => name !== '') ?? '';
}

/** The name in a field of a mark: a text, or JSON such as `["company","Acme Corp","maker of anvils"]`. */
function nameIn(field: string): string {
  const json = /^\s*[[{]/.test(field) ? parseJson(field) : undefined;
  if (Array.isArray(json)) {
    const [first = '', second = first] = json.filter((entry) => typeof entry === 'string');
    return second;
  }
  if (isObject(json)) return [json.name, json.label, json.title].find((name) => typeof name === 'string') ?? '';
  const isReference = field.split(/[\s,;]+/).every((word) => word === '' || REFERENCE.test(word));
  return isReference ? '' : field.trim();
}

/** A reference to a result of a search, to a line, to a file, or a URL. */
const REFERENCE = /^(?:(?:turn\d+[a-z_]+\d+)+|https?:\/\/.*|.*†.*|L\d+(?:-L?\d+)?|\d+|file[-_]\w+)$/i;

const RESULT = 'turn\\d{1,9}[a-z]{1,20}\\d{1,9}';
/**
 * A reference of Azure, of open models or of an export: `【5:0†source】`, `【turn0search0】`, `[turn0search0]`, `citeturn0search0`,
 * `:contentReference[oaicite:0]{index=0}`.
 */
const PLAIN_REFERENCE = `(?:【(?:[\\w:.,-]{1,40}†[^【】\\n]{0,200}|${RESULT})】|(?::contentReference)?\\[(?:oaicite:\\d{1,9}|${RESULT})\\](?!\\()(?:\\{index=\\d{1,9}\\})?|\\b(?:file)?cite(?:${RESULT})+)`;
const PLAIN_REFERENCES = new RegExp(`( ?)${PLAIN_REFERENCE}(?: ?${PLAIN_REFERENCE})*(?=(.?))`, 'gu');

/** A text of a model without references that no reader can follow. Code stays as it is, because it may be about them. */
export function withoutReferences(text: string): string {
  if (!/†|oaicite|turn\d/.test(text)) return text;
  const lines = text.split('\n');
  const { isCode } = fencedLines(lines);
  const cleaned = lines.map((line, at) => {
    if (isCode[at] === true) return line;
    const spans = line.split(/(`[^`]*`)/);
    return spans.map((span, index) => (index % 2 === 1 ? span : withoutReferencesIn(span))).join('');
  });
  return cleaned.join('\n');
}

function withoutReferencesIn(text: string): string {
  return text.replace(PLAIN_REFERENCES, (_, space: string, next: string) => gapBefore(next, space));
}
