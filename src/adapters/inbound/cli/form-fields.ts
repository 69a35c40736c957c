import { err, ok, type Result } from 'neverthrow';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { FORM } from '../words/form-messages.ts';

/** A field of a form that a server asks a person to fill in, which is one line in a terminal. */
export interface FormField {
  readonly name: string;
  readonly isRequired: boolean;
  /** The line before the cursor. */
  readonly prompt: string;
  /** The value for an empty line; undefined if there is none. */
  readonly preset: unknown;
  /** Reads a line. The error says what is expected. */
  readonly read: (line: string) => Result<unknown, string>;
}

/** How a person types the value of a field. */
interface Kind {
  /** What is expected, such as `whole number, 1 to 10`. */
  readonly hint: string;
  readonly read: FormField['read'];
  /** A value as a person would type it. */
  readonly show: (value: unknown) => string;
}

/** The fields of a form, in the order of its schema (MCP, elicitation: an object with members of simple types). */
export function formFields({ properties, required }: JsonObject): readonly FormField[] {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) =>
    toField(name, isObject(schema) ? schema : {}, names.includes(name)),
  );
}

function toField(name: string, schema: JsonObject, isRequired: boolean): FormField {
  const kind = kindOf(schema);
  const title = textIn(schema.title) ?? name;
  const about = textIn(schema.description);
  const preset = presetOf(schema, kind);
  const isOptional = !isRequired && preset === undefined;
  const shown = preset === undefined ? '' : ` [${kind.show(preset)}]`;
  const head = `${title}${about === undefined ? '' : ` - ${about}`}`;
  return {
    name,
    isRequired,
    prompt: `${cleanLine(`${head} (${kind.hint}${isOptional ? FORM.optional : ''})${shown}:`)} `,
    preset,
    read: (line) => kind.read(line.trim()),
  };
}

/** The default of a field, if it is a value of its kind. */
function presetOf({ default: preset }: JsonObject, { show, read }: Kind): unknown {
  if (preset === undefined || preset === null) return undefined;
  return read(show(preset)).isOk() ? preset : undefined;
}

function kindOf(schema: JsonObject): Kind {
  const { type, items } = schema;
  if (type === 'array') return severalOf(choicesIn(isObject(items) ? items : {}), schema);
  if (type === 'boolean') return YES_OR_NO;
  if (type === 'number' || type === 'integer') return numberOf(schema);
  const choices = choicesIn(schema);
  return choices.length > 0 ? oneOf(choices) : textOf(schema);
}

/** Digits, letters and signs of an input method for Japanese are read as those of ASCII. */
const narrow = (line: string) => line.normalize('NFKC').toLowerCase();

const YES_OR_NO: Kind = {
  hint: 'y/n',
  show: (value) => (value === true ? 'y' : 'n'),
  read: (line) => {
    const typed = narrow(line);
    if (['y', 'yes', 'true', 'はい'].includes(typed)) return ok(true);
    return ['n', 'no', 'false', 'いいえ'].includes(typed) ? ok(false) : err(FORM.yesOrNo);
  },
};

function numberOf({ type, minimum, maximum }: JsonObject): Kind {
  const least = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
  const most = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
  const hint = `${type === 'integer' ? FORM.wholeNumber : FORM.number}${FORM.range(least, most)}`;
  const form = type === 'integer' ? /^[-+]?\d+$/ : /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/;
  const read = (line: string) => {
    const typed = narrow(line);
    const value = form.test(typed) ? Number(typed) : Number.NaN;
    const isExact = type !== 'integer' || Number.isSafeInteger(value);
    return value >= least && value <= most && isExact ? ok(value) : err(FORM.expected(hint));
  };
  return { hint, show: String, read };
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choices of a schema: constants with titles, or values, of which earlier revisions give the names beside them. */
function choicesIn({ enum: values, enumNames, oneOf, anyOf }: JsonObject): readonly Choice[] {
  const titled = [oneOf, anyOf].find(Array.isArray);
  if (titled !== undefined) {
    return titled
      .filter(isObject)
      .map((one) => ({ value: String(one.const), label: textIn(one.title) ?? String(one.const) }));
  }
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  const list: readonly unknown[] = Array.isArray(values) ? values : [];
  return list.map((value, at) => ({ value: String(value), label: textIn(names[at]) ?? String(value) }));
}

/** The choice that a person means by its number, or by its name. */
function chosen(choices: readonly Choice[], line: string): number {
  const typed = narrow(line);
  if (/^\d+$/.test(typed)) return choices[Number(typed) - 1] === undefined ? -1 : Number(typed) - 1;
  return choices.findIndex(({ value, label }) => narrow(value) === typed || narrow(label) === typed);
}

function listed(choices: readonly Choice[]): string {
  return choices.map(({ label }, at) => `${at + 1}: ${label}`).join(', ');
}

function oneOf(choices: readonly Choice[]): Kind {
  return {
    hint: listed(choices),
    show: (value) => String(choices.findIndex((choice) => choice.value === value) + 1),
    read: (line) => {
      const choice = choices[chosen(choices, line)];
      return choice === undefined ? err(FORM.choose(choices.length)) : ok(choice.value);
    },
  };
}

function severalOf(choices: readonly Choice[], { minItems, maxItems }: JsonObject): Kind {
  const least = typeof minItems === 'number' ? minItems : 0;
  const most = typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY;
  const numberOfValue = (value: unknown) => choices.findIndex((choice) => choice.value === value) + 1;
  return {
    hint: `${listed(choices)}${FORM.several}`,
    show: (values) => (Array.isArray(values) ? values.map(numberOfValue).join(',') : ''),
    read: (line) => {
      const places = line === '' ? [] : [...new Set(line.split(/[,，、]/).map((part) => chosen(choices, part.trim())))];
      const values = places.map((place) => choices[place]?.value);
      const isWrong = values.includes(undefined);
      if (isWrong) return err(FORM.chooseSeveral(choices.length));
      return values.length >= least && values.length <= most ? ok(values) : err(FORM.amount(least, most));
    },
  };
}

/** The formats of texts that MCP knows, with what a person reads of each. */
const FORMATS: Readonly<Record<string, readonly [hint: string, matches: (text: string) => boolean]>> = {
  email: [FORM.email, (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  uri: [FORM.uri, (text) => URL.canParse(text)],
  date: [FORM.date, (text) => isDay(text)],
  'date-time': [
    FORM.dateTime,
    (text) =>
      /^.{10}t\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[-+]\d\d:\d\d)$/i.test(text) &&
      isDay(text.slice(0, 10)) &&
      !Number.isNaN(Date.parse(text)),
  ],
};

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // 30 February would be 2 March.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function textOf({ format, minLength, maxLength }: JsonObject): Kind {
  const [what, matches] = FORMATS[String(format)] ?? [FORM.text, () => true];
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  const hint = `${what}${FORM.length(least, most)}`;
  const read = (line: string) => {
    const { length } = [...line];
    return matches(line) && length >= least && length <= most ? ok(line) : err(FORM.expected(hint));
  };
  return { hint, show: String, read };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
