import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exposedName, hashedName } from '../../../src/domain/exposed-name.ts';

const servers = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/);
const tools = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });

test.each([
  ['files', 'read', 'files__read'],
  ['files', 'read file/now', 'files__read file/now'],
  ['a', 'x'.repeat(61), `a__${'x'.repeat(61)}`],
  ['a', 'x'.repeat(62), `a__${'x'.repeat(52)}_b3ba1b92`],
  ['weather', '天気予報を取得する'.repeat(10), `weather__${'天気予報を取得する'.repeat(10).slice(0, 46)}_dd77dacf`],
])('the tool of %s named %s is %s', (server, tool, name) => {
  expect(exposedName(server, tool)).toBe(name);
});

describe('any name', () => {
  test('has at most 64 characters, begins with the server, and is the same every time', () => {
    fc.assert(
      fc.property(servers, tools, (server, tool) => {
        const name = exposedName(server, tool);
        expect(name.length).toBeLessThanOrEqual(64);
        expect(name.startsWith(`${server}__`)).toBe(true);
        expect(exposedName(server, tool)).toBe(name);
      }),
    );
  });

  test('is unchanged if it is short enough', () => {
    fc.assert(
      fc.property(servers, tools, (server, tool) => {
        const complete = `${server}__${tool}`;
        expect(exposedName(server, tool) === complete).toBe(complete.length <= 64);
      }),
    );
  });

  test('is different for another tool or server', () => {
    fc.assert(
      fc.property(servers, servers, tools, tools, (server, other, tool, otherTool) => {
        fc.pre(server !== other || tool !== otherTool);
        expect(exposedName(server, tool)).not.toBe(exposedName(other, otherTool));
        expect(hashedName(server, tool)).not.toBe(hashedName(other, otherTool));
      }),
    );
  });

  test('has no half of a character', () => {
    fc.assert(
      fc.property(
        servers,
        fc.string({ unit: fc.constantFrom('a', '🦉'), minLength: 30, maxLength: 80 }),
        (server, tool) => {
          expect(exposedName(server, tool).isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

test('tools that begin alike have different hashes', () => {
  const names = ['a', 'b'].map((end) => exposedName('files', `${'long'.repeat(20)}${end}`));
  expect(new Set(names).size).toBe(2);
});
