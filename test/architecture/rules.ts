import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** A file of a program, by its path from the root of the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The TypeScript files in a folder. */
export function filesIn(root: string, folder: string): readonly SourceFile[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join(folder, name).replaceAll('\\', '/'))
    .map((name) => ({ path: name, text: readFileSync(path.join(root, name), 'utf8') }));
}

const TIME = /\b(?:setTimeout|setInterval|AbortSignal\.timeout|Date\.now|performance\.now)\b|\bnew Date\(\)/;

/** The files that have a source of time of their own, although the docstring of the clock does not name them. */
export function ownTimes(files: readonly SourceFile[]): readonly string[] {
  const port = files.find((file) => file.path.endsWith('ports/services.ts'))?.text ?? '';
  const named = [...port.matchAll(/`([\w-]+\.ts)`/g)].map(([, name = '']) => name);
  return files
    .filter((file) => !file.path.includes('/outbound/clock/') && !file.path.endsWith('ports/services.ts'))
    .filter(({ text }) => TIME.test(text.replaceAll(/\/\*.*?\*\/|\/\/.*/gs, '')))
    .map((file) => file.path)
    .filter((file) => !named.includes(path.posix.basename(file)));
}

/** Ports whose contract suite does not exist, or does not run on a fake. `tests` are all files of the tests. */
export function untestedPorts(files: readonly SourceFile[], tests: readonly SourceFile[]): readonly string[] {
  const texts = files.filter((file) => file.path.includes('application/ports/')).map(({ text }) => text);
  return texts.flatMap(portsIn).filter((port) => {
    const suite = `describe-${port}.ts`;
    const users = tests.filter((file) => file.path.endsWith('.test.ts') && file.text.includes(`/${suite}'`));
    const isFake = (text: string) => /from '\.\.\/support\/[\w-]+\.ts'/.test(text);
    return !tests.some((file) => file.path.endsWith(`/${suite}`)) || !users.some(({ text }) => isFake(text));
  });
}

/** The ports in a file, by the names of their suites: its interfaces with methods, but for those that are a part of another port. */
function portsIn(text: string): readonly string[] {
  const ports: { readonly name: string; readonly body: string }[] = [];
  new Visitor({
    TSInterfaceDeclaration: ({ id, body }) => {
      const hasMethods = body.body.some((member) => member.type === 'TSMethodSignature');
      if (hasMethods) ports.push({ name: id.name, body: text.slice(body.start, body.end) });
    },
  }).visit(parseSync('ports.ts', text, { lang: 'ts' }).program);
  const isPart = (name: string) => ports.some((port) => port.name !== name && port.body.includes(name));
  return ports
    .filter(({ name }) => !isPart(name))
    .map(({ name }) => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase());
}

/** The longest file that a reader should have to read. */
const MAX_LINES = 250;

export function longFiles(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ text }) => text.trimEnd().split('\n').length > MAX_LINES).map((file) => file.path);
}

/** The places of other texts: each holds all texts of its kind. */
const OTHER_TEXTS: readonly RegExp[] = [
  // The help, and the descriptions of tools, operations and metrics.
  /inbound\/(?:cli\/usage|mcp\/[\w-]+-schemas|http\/openapi|http\/(?:long-)?metrics)\.ts$/,
  // The page, whose other texts are in its HTML.
  /inbound\/http\/page\//,
  // Parts of an answer, which the domain makes in the language of the question.
  /domain\/answers\/(?:answer-result|unfinished-answer)\.ts$/,
  // For the model.
  /(?:system-policy|tool-output|openai\/request-body|diagnose-setup)\.ts$/,
  // What the browser shows at the end of a login.
  /\/outbound\/login\/browser\.ts$/,
];

/** What sends a text to a person, or to the client of a refused request. */
const SENDER = /(?:\berr|stderr)\.write$|^(?:refusal|overloaded)$/;

/** Messages outside of the folder for them: sentences, and any words that are sent where they are written. */
export function strayWords(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter((file) => !file.path.includes('/inbound/words/') && !OTHER_TEXTS.some((texts) => texts.test(file.path)))
    .flatMap((file) => wordsIn(file.text).map((words) => `${file.path}: ${words}`));
}

function wordsIn(text: string): readonly string[] {
  const found: string[] = [];
  // Their readers are programmers.
  let thrown = 0;
  const check = (words: string) => {
    if (thrown === 0 && SENTENCE.test(words)) found.push(words);
  };
  new Visitor({
    ThrowStatement: () => {
      thrown += 1;
    },
    'ThrowStatement:exit': () => {
      thrown -= 1;
    },
    CallExpression: ({ callee, arguments: args }) => {
      if (thrown > 0 || !SENDER.test(text.slice(callee.start, callee.end))) return;
      const words = args.map((arg) => textOf(arg)?.trim() ?? '');
      found.push(...words.filter((one) => /\w+ \w/.test(one) && !SENTENCE.test(one)));
    },
    Literal: (node) => check(textOf(node)?.trim() ?? ''),
    TemplateLiteral: (node) => check(textOf(node)?.trim() ?? ''),
  }).visit(parseSync('words.ts', text, { lang: 'ts' }).program);
  return found;
}

/** At least four words, of which only the first must begin with a capital letter. */
const SENTENCE = /^[("'[]?[A-Z][\w-]* (?=.*(?:^| )[a-z])(?:\S+ ){2}\S/;

/** The text of a literal without what is filled in. */
function textOf(node: ESTree.Node): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type !== 'TemplateLiteral') return undefined;
  return node.quasis
    .map(({ value }) => value.cooked ?? '')
    .join(' ')
    .replaceAll(/ +/g, ' ');
}
