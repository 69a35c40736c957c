import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { type Control, type Field, fieldsOf, skeletonOf } from '../../schema-fields.ts';
import { type Child, el, foreign, pretty } from './elements.ts';
import { messageOf } from './requests.ts';

/** The input of a tool. */
export interface InputForm {
  readonly nodes: readonly Child[];
  /** Returns the input that was entered, which the browser must have found valid. */
  readonly read: () => JsonObject;
}

/** A field with its value; undefined if it is empty. */
interface Entry {
  readonly input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
  readonly read: () => unknown;
  readonly extra?: Child;
}

/** A form with the fields of a schema, or with one field for the complete input as JSON. */
export function inputForm(inputSchema: JsonObject): InputForm {
  const fields = fieldsOf(inputSchema);
  if (fields === undefined) {
    const skeleton = skeletonOf(inputSchema, inputSchema);
    const { input, read } = jsonEntry({ preset: isObject(skeleton) ? skeleton : {}, skeleton }, isObject);
    input.ariaLabel = 'Input as JSON';
    input.required = true;
    return { nodes: [input], read: () => read() as JsonObject };
  }
  if (fields.length === 0)
    return { nodes: [el('p', { className: 'muted' }, 'This tool needs no input.')], read: () => ({}) };
  const entries = fields.map((field) => ({ field, entry: entryOf(field.control, field.isRequired) }));
  return {
    nodes: entries.map(({ field, entry }) => fieldNode(field, entry)),
    read: () => {
      const values = entries.map(({ field, entry }) => [field.name, entry.read()] as const);
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    },
  };
}

let fieldCount = 0;

function fieldNode({ name, hint, isRequired }: Field, { input, extra }: Entry): HTMLElement {
  fieldCount += 1;
  input.id = `field-${fieldCount}`;
  input.required = isRequired && input.type !== 'checkbox';
  const mark = isRequired ? el('span', { className: 'hint' }, ' required') : undefined;
  const label = el('label', { htmlFor: input.id }, foreign(name, 'code'), mark);
  const about = foreign(hint, 'div');
  about.id = `${input.id}-hint`;
  about.classList.add('hint');
  input.setAttribute('aria-describedby', about.id);
  const nodes = input.type === 'checkbox' ? [input, label, about] : [label, about, input];
  return el('div', { className: 'field' }, nodes, extra);
}

function entryOf(control: Control, isRequired: boolean): Entry {
  switch (control.kind) {
    case 'checkbox': {
      const input = el('input', { type: 'checkbox', checked: control.preset });
      return { input, read: () => input.checked };
    }
    case 'choice': {
      const { choices, preset } = control;
      const options = choices.map(({ label }, at) => el('option', { value: String(at) }, label));
      const none = el('option', { value: '' }, isRequired ? 'Choose…' : '(not set)');
      const input = el('select', {}, none, options);
      input.value = preset === -1 ? '' : String(preset);
      return { input, read: () => (input.value === '' ? undefined : choices[Number(input.value)]?.value) };
    }
    case 'number': {
      const value = control.preset === undefined ? '' : String(control.preset);
      const input = el('input', { type: 'number', ...control.limits, value, autocomplete: 'off' });
      return { input, read: () => (input.value === '' ? undefined : Number(input.value)) };
    }
    case 'text': {
      const { preset: value, isLong } = control;
      const input = isLong
        ? el('textarea', { rows: 2, value, spellcheck: false })
        : el('input', { type: 'text', value, spellcheck: false, autocomplete: 'off' });
      return { input, read: () => (input.value === '' ? undefined : input.value) };
    }
    case 'json':
      return jsonEntry(control);
  }
}

type JsonPresets = Pick<Extract<Control, { kind: 'json' }>, 'preset' | 'skeleton'>;

/** An editor of JSON. While it is empty, a button offers the skeleton of the value. */
function jsonEntry({ preset, skeleton }: JsonPresets, isValid: (value: unknown) => boolean = () => true) {
  const placeholder = skeleton === null ? 'JSON' : JSON.stringify(skeleton);
  const input = el('textarea', { className: 'mono', rows: 3, placeholder, spellcheck: false });
  const insert = el('button', { type: 'button', className: 'small' }, 'Insert example');
  const onChange = () => {
    input.setCustomValidity(problemOf(input.value, isValid));
    insert.hidden = skeleton === null || input.value !== '';
  };
  const write = (value: unknown) => {
    input.value = pretty(value);
    onChange();
  };
  input.oninput = onChange;
  insert.onclick = () => {
    write(skeleton);
    input.focus();
  };
  write(preset);
  const read = (): unknown => (input.value === '' ? undefined : JSON.parse(input.value));
  return { input, read, extra: insert };
}

function problemOf(text: string, isValid: (value: unknown) => boolean): string {
  try {
    return text === '' || isValid(JSON.parse(text)) ? '' : 'This must be a JSON object.';
  } catch (error) {
    return `This is not valid JSON: ${messageOf(error)}`;
  }
}
