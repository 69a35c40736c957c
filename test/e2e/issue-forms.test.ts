import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { anchorsOf } from './markdown.ts';
import { ROOT } from './serve.ts';

/** An element of a form, of which nothing is certain yet. */
interface Element {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly validations?: Readonly<Record<string, unknown>>;
}

interface Form extends Readonly<Record<string, unknown>> {
  readonly body?: readonly Element[];
}

const FOLDER = path.join(ROOT, '.github', 'ISSUE_TEMPLATE');
const REPOSITORY = 'https://github.com/uchimanajet7/openai-responses-mcp';
const FORMS = readdirSync(FOLDER).filter((name) => name !== 'config.yml');
const read = (name: string) => readFileSync(path.join(FOLDER, name), 'utf8');

const TOP_LEVEL = ['name', 'description', 'title', 'labels', 'assignees', 'projects', 'type', 'body'];
/** The attributes of each type of element. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  markdown: ['value'],
  textarea: ['label', 'description', 'placeholder', 'value', 'render'],
  input: ['label', 'description', 'placeholder', 'value'],
  dropdown: ['label', 'description', 'multiple', 'options', 'default'],
  checkboxes: ['label', 'description', 'options'],
};

/** What GitHub would reject in a form: it then offers none at all ("Syntax for GitHub's form schema"). */
function problemsOf(form: Form): readonly string[] {
  const { body = [] } = form;
  const problems = ['name', 'description'].filter((key) => !isText(form[key])).map((key) => `${key} is missing`);
  problems.push(...unknownKeys(form, TOP_LEVEL));
  if (!body.some(({ type }) => type !== 'markdown')) problems.push('body has no question');
  problems.push(...body.flatMap((element) => problemsOfElement(element)));
  problems.push(...repeated(body.flatMap(({ id }) => id ?? [])));
  problems.push(...repeated(body.flatMap(({ attributes }) => attributes?.label ?? [])));
  return problems;
}

function problemsOfElement({ type, id, attributes = {}, validations = {}, ...rest }: Element): readonly string[] {
  const known = ATTRIBUTES[String(type)];
  if (known === undefined) return [`${type} is no type of element`];
  const problems = [...unknownKeys(rest, []), ...unknownKeys(attributes, known)];
  const required = type === 'markdown' ? 'value' : 'label';
  if (!isText(attributes[required])) problems.push(`a ${type} has no ${required}`);
  if (type !== 'markdown' && !/^[\w-]+$/.test(String(id))) problems.push(`${id} is no ID`);
  if (known.includes('options')) {
    const options = Array.isArray(attributes.options) ? (attributes.options as unknown[]) : [];
    const labels = type === 'dropdown' ? options : options.map((option) => (option as { label?: unknown }).label);
    if (labels.length === 0 || !labels.every(isText)) problems.push(`${id} needs options that are texts`);
    problems.push(...repeated(labels));
  }
  problems.push(...unknownKeys(validations, type === 'markdown' ? [] : ['required']));
  if (!['undefined', 'boolean'].includes(typeof validations.required)) problems.push(`${id}: required is no boolean`);
  return problems;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function unknownKeys(value: object, known: readonly string[]): readonly string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `${key} is not known`);
}

function repeated(values: readonly unknown[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) < index).map((value) => `${value} is repeated`);
}

test('there is a form for bugs and one for wishes', () => {
  expect(FORMS.toSorted()).toEqual(['bug.yml', 'wish.yml']);
});

test.for(FORMS.map((name) => [name] as const))('GitHub accepts %s', ([name]) => {
  expect(problemsOf(parse(read(name)) as Form)).toEqual([]);
});

const QUESTION = { type: 'input', id: 'client', attributes: { label: 'Client' } };
test.for<[string, Form]>([
  ['description is missing', { name: 'Bug', body: [QUESTION] }],
  ['about is not known', { name: 'Bug', description: 'x', about: 'x', body: [QUESTION] }],
  ['body has no question', { name: 'Bug', description: 'x', body: [{ type: 'markdown', attributes: { value: 'x' } }] }],
  ['text is no type of element', { name: 'Bug', description: 'x', body: [QUESTION, { type: 'text' }] }],
  ['a textarea has no label', { name: 'Bug', description: 'x', body: [{ type: 'textarea', id: 'x' }] }],
  ['the log is no ID', { name: 'Bug', description: 'x', body: [{ ...QUESTION, id: 'the log' }] }],
  [
    'render is not known',
    { name: 'x', description: 'x', body: [{ ...QUESTION, attributes: { label: 'x', render: '' } }] },
  ],
  [
    'x needs options',
    { name: 'x', description: 'x', body: [{ type: 'dropdown', id: 'x', attributes: { label: 'x' } }] },
  ],
  ['required is no boolean', { name: 'x', description: 'x', body: [{ ...QUESTION, validations: { required: 'no' } }] }],
  ['client is repeated', { name: 'x', description: 'x', body: [QUESTION, QUESTION] }],
])('the check finds that %s', ([problem, form]) => {
  expect(problemsOf(form).join('\n')).toContain(problem);
});

test('the form for bugs asks for what finds the cause', () => {
  const { body = [] } = parse(read('bug.yml')) as Form;
  const required = body.filter(({ validations }) => validations?.required === true).map(({ id }) => id);
  expect(required).toEqual(['what', 'doctor', 'version', 'way', 'client', 'system']);
  expect(body.map(({ id }) => id)).toContain('log');
});

test('instead of an empty issue, there are links that lead somewhere', () => {
  const config = parse(read('config.yml')) as {
    readonly blank_issues_enabled: boolean;
    readonly contact_links: readonly Readonly<Record<string, unknown>>[];
  };
  expect(config.blank_issues_enabled).toBe(false);
  for (const link of config.contact_links) {
    expect(Object.keys(link)).toEqual(['name', 'url', 'about']);
    expect(Object.values(link).every(isText)).toBe(true);
  }
  const urls = config.contact_links.map(({ url }) => String(url));
  expect(urls).toContain(`${REPOSITORY}/security/policy`);
  const [, anchor = ''] = urls.map((url) => url.split('#')).find(([page]) => page === REPOSITORY) ?? [];
  expect(anchorsOf(readFileSync(path.join(ROOT, 'README.md'), 'utf8'))).toContain(anchor);
  const files = urls.flatMap((url) => url.split(`${REPOSITORY}/blob/main/`)[1] ?? []);
  expect(files).toContain('docs/clients.md');
  expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});
