import { describe, expect, test } from 'vitest';
import { filesIn, longFiles, ownTimes, type SourceFile, strayWords, untestedPorts } from './rules.ts';
import { oversized } from './shapes.ts';

const SOURCES = filesIn(process.cwd(), 'src');
const TESTS = filesIn(process.cwd(), 'test');
const source = (path: string, text: string): SourceFile => ({ path, text });

describe('one clock', () => {
  test('no other file has a source of time, unless the docstring of the port says why', () => {
    expect(ownTimes(SOURCES), 'use the Clock, or name the file in ports/services.ts').toEqual([]);
  });

  test.each(['setTimeout(run, 1)', 'setInterval(run, 1)', 'AbortSignal.timeout(1)', 'Date.now()', 'new Date()'])(
    'a file with %s is found',
    (text) => {
      const clock = source('src/application/ports/services.ts', '/** Not in `named.ts`. */');
      const planted = ['named', 'other'].map((name) => source(`src/adapters/${name}.ts`, text));
      expect(ownTimes([clock, ...planted, source('src/a.ts', `// ${text}\nnew Date(0)`)])).toEqual([
        'src/adapters/other.ts',
      ]);
    },
  );
});

describe('one contract suite per port', () => {
  test('runs on the fake of the port', () => {
    expect(untestedPorts(SOURCES, TESTS), 'write test/contract/describe-<port>.ts and run it on the fake').toEqual([]);
  });

  test('a port without a suite, or whose suite runs on no fake, is found', () => {
    const events = 'interface Events { onEnd(): void }';
    const ports = ['Clock', 'Logger', 'ApiProbe'].map((name) => `interface ${name} { run(events: Events): void }`);
    const services = source(
      'src/application/ports/services.ts',
      `${ports.join(' ')} ${events} interface Data { a: 1 }`,
    );
    const tests = [
      source('test/contract/describe-clock.ts', ''),
      source(
        'test/contract/clock.test.ts',
        "import '../support/fake-clock.ts';\nimport './describe-clock.ts';".replaceAll('import ', 'import {} from '),
      ),
      source('test/contract/describe-logger.ts', ''),
      source('test/contract/logger.test.ts', "import {} from './describe-logger.ts';"),
    ];
    expect(untestedPorts([services], tests)).toEqual(['logger', 'api-probe']);
  });
});

describe('short files', () => {
  test('no file of the program has more than 250 lines', () => {
    expect(longFiles(SOURCES), 'a file that needs more lines has two subjects').toEqual([]);
  });

  test('a longer one is found', () => {
    expect(longFiles([source('src/a.ts', 'x\n'.repeat(250)), source('src/b.ts', 'x\n'.repeat(251))])).toEqual([
      'src/b.ts',
    ]);
  });
});

describe('one place for words', () => {
  test('no message for people is written elsewhere', () => {
    expect(strayWords(SOURCES), 'move it to src/adapters/inbound/words').toEqual([]);
  });

  test.each([
    ["const a = 'The body is too large.'", 'The body is too large.'],
    [`const a = \`Cannot listen on port \${port}\``, 'Cannot listen on port'],
    ["process.stderr.write('no key')", 'no key'],
    [`refusal('NOT_FOUND', \`no path \${path}\`)`, 'no path'],
  ])('%s is found', (text, words) => {
    expect(strayWords([source('src/main.ts', text), source('src/adapters/inbound/words/a.ts', text)])).toEqual([
      `src/main.ts: ${words}`,
    ]);
  });

  test.each([
    "throw new Error('The HTTP endpoint has no configuration')",
    "const reason = 'is not valid JSON'",
    "const headers = 'Accept, Authorization, Content-Type, ETag'",
    "refusal('NOT_FOUND', message)",
    '// The body is too large.',
  ])('%s is not', (text) => {
    expect(strayWords([source('src/main.ts', text)])).toEqual([]);
  });
});

describe('functions that are read without a map', () => {
  test('none has more than 60 lines, 5 levels or 4 parameters', () => {
    expect(oversized(SOURCES), 'split it, or give it one object').toEqual([]);
  });

  const lines = (count: number) => 'x();\n'.repeat(count);
  const nested = (levels: number) => `${'if (x) {\n'.repeat(levels)}${'}\n'.repeat(levels)}`;

  test.each([
    [`function long() {\n${lines(58)}}`, []],
    [`function long() {\n${lines(59)}}`, ['long: 61 lines']],
    [`const long = () => {\n${lines(59)}};`, ['long: 61 lines']],
    [`class A {\n  #long() {\n${lines(59)}}\n}`, ['#long: 61 lines']],
    [`export default { long() {\n${lines(59)}} };`, ['long: 61 lines']],
    ['function wide(a, b, c, d) {}', []],
    ['function wide(a, b, { c }, d = 1, ...e) {}', ['wide: 5 parameters']],
    ['class A { constructor(a, b, c, d, e) {} }', ['constructor: 5 parameters']],
    ['call((a, b, c, d, e) => a);', ['a function: 5 parameters']],
    [`function deep() {\n${nested(4)}}`, []],
    [`function deep() {\n${nested(5)}}`, ['deep: 6 levels']],
    [`class A {\n  deep() {\n${nested(4)}  }\n}`, ['deep: 6 levels']],
    [`function deep() {\n  for (const x of y) call(() => {\n${nested(3)}  });\n}`, ['deep: 6 levels']],
    [
      `function deep() {\n  switch (x) { case 1: try { while (x) do { ${nested(1)} } while (x) } catch {} }\n}`,
      ['deep: 6 levels'],
    ],
    // An `else if` is as deep as its `if`.
    [`function flat() {\n${'if (x) {\n} else '.repeat(9)}{}\n}`, []],
  ])('%j has %j', (text, found) => {
    expect(oversized([source('src/a.ts', text)])).toEqual(found.map((one) => `src/a.ts ${one}`));
  });
});
