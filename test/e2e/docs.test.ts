import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { KEYS } from '../../src/adapters/outbound/config/keys.ts';
import { ROOT } from './serve.ts';

const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const GUIDES = [['README.md'], ['README.ja.md'], ['CONTRIBUTING.md'], ['AGENTS.md']];
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

test.for(GUIDES)('every npm command of %s is a script', ([name = '']) => {
  const commands = [...codeOf(read(name)).matchAll(/\bnpm (?:run(?:-script)? )?(?:--?[\w-]+ )*([\w:-]+)/g)].map(
    ([, word]) => word,
  );
  expect(commands.length).toBeGreaterThan(0);
  const builtIn = ['ci', 'install', 'i', 'exec', 'pack', 'link', 'view', 'config', 'root', 'prefix', 'uninstall'];
  const unknown = commands.filter((word = '') => !builtIn.includes(word) && !Object.hasOwn(scripts, word));
  expect(unknown).toEqual([]);
});

test.for(GUIDES)('every script that %s runs exists', ([name = '']) => {
  const named = [...codeOf(read(name)).matchAll(/\bnode ((?:scripts|bench|build)\/[\w./-]+)/g)].map(
    ([, file]) => file ?? '',
  );
  expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('every npm script runs a file that exists', () => {
  const files = Object.values(scripts).flatMap((script) =>
    [...script.matchAll(/\bnode ([\w./-]+)/g)].map(([, file]) => file ?? ''),
  );
  expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('config.yaml.example names every key, in use or as a comment', () => {
  const named = new Set(pathsOf(read('config', 'config.yaml.example')).map(ofAnyProfile));
  const paths = KEYS.map(({ path }) => ofAnyProfile(path));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !named.has(path))).toEqual([]);
});

/** The complete path of every key of a YAML text. A comment counts as the text after `# `. */
function pathsOf(yaml: string): string[] {
  const parents: { readonly indent: number; readonly path: string }[] = [];
  return yaml.split('\n').flatMap((line) => {
    const [, outer = '', inner = '', name] = /^( *)(?:# ( *))?(\w+):(?: |$)/.exec(line) ?? [];
    if (name === undefined) return [];
    const indent = outer.length + inner.length;
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop();
    const path = [...parents.slice(-1).map((parent) => parent.path), name].join('.');
    parents.push({ indent, path });
    return [path];
  });
}

/** The profiles have the same keys; the example shows each key in one of them. */
function ofAnyProfile(path: string): string {
  return path.replace(/^model_profiles\.\w+\./, 'model_profiles.*.');
}

/** The text of code fences and code spans. */
function codeOf(markdown: string): string {
  return [...markdown.matchAll(/```[^\n]*\n([\s\S]*?)```|`([^`\n]+)`/g)]
    .map(([, block, span]) => block ?? span)
    .join('\n');
}
