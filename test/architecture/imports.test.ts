import path from 'node:path/posix';
import { describe, expect, test } from 'vitest';
import { circlesOf, type ImportRule, importsBelow, violationsOf } from './imports.ts';

const isPackage = (to: string) => to.startsWith('package:');
const isNode = (to: string) => to.startsWith('node:');
const isOutside = (to: string, ...allowed: readonly RegExp[]) => !isNode(to) && !allowed.some((one) => one.test(to));
const NEVERTHROW = /^package:neverthrow$/;

/** The imports that are not allowed. Each rule has a violation under planted/, which it must catch. */
const RULES: readonly ImportRule[] = [
  {
    name: 'the domain imports only itself and neverthrow',
    from: /^src\/domain\//,
    forbids: (to) => isOutside(to, /^src\/domain\//, NEVERTHROW),
  },
  {
    name: 'the application imports only inwards',
    from: /^src\/application\//,
    forbids: (to) => isOutside(to, /^src\/(?:application|domain)\//, NEVERTHROW),
  },
  { name: 'the core knows nothing of Node', from: /^src\/(?:domain|application)\//, forbids: isNode },
  {
    name: 'an inbound adapter imports no outbound one',
    from: /^src\/adapters\/inbound\//,
    forbids: (to) => to.startsWith('src/adapters/outbound/'),
  },
  {
    name: 'an outbound adapter imports no inbound one',
    from: /^src\/adapters\/outbound\//,
    forbids: (to) => to.startsWith('src/adapters/inbound/'),
  },
  {
    name: 'no adapter imports the composition',
    from: /^src\/adapters\//,
    forbids: (to) => /^src\/(?:wiring\/|[^/]+\.ts$)/.test(to),
  },
  {
    name: 'only main imports the wiring',
    from: /^src\/(?!main\.ts$|wiring\/)/,
    forbids: (to) => to.startsWith('src/wiring/'),
  },
  {
    name: 'nothing in the core knows answers but themselves',
    from: /^src\/(?:domain|application)\/(?:grounded|gateway|values|async)\//,
    forbids: (to) => /^src\/(?:domain|application)\/answers\//.test(to),
  },
  {
    name: 'the gateway knows nothing of grounded answers',
    from: /^src\/(?:domain|application)\/(?:gateway|values|async)\//,
    forbids: (to) => /^src\/(?:domain|application)\/grounded\//.test(to),
  },
  {
    name: 'values know no product',
    from: /^src\/domain\/values\//,
    forbids: (to) => /^src\/domain\/(?!values\/)/.test(to),
  },
  {
    name: 'outbound adapters share only the network and files',
    from: /^src\/adapters\/outbound\/([^/]+)\//,
    forbids: (to, [, own = '']) => isOtherAdapter(to, own, 'network', 'files', 'logger'),
  },
  {
    name: 'what adapters share knows no other adapter',
    from: /^src\/adapters\/outbound\/(network|files)\//,
    forbids: (to, [, own = '']) => isOtherAdapter(to, own),
  },
  {
    name: 'only the container knows its packages',
    from: /^src\/(?!wiring\/container\.ts$)/,
    forbids: (to) => /^package:(?:tsyringe|reflect-metadata)$/.test(to),
  },
  { name: 'nothing imports tests', from: /^src\//, forbids: (to) => to.startsWith('test/') },
  { name: 'every import leads somewhere', from: /^src\//, forbids: (to) => to.startsWith('missing:') },
];

function isOtherAdapter(to: string, ...allowed: readonly string[]): boolean {
  const [, adapter] = /^src\/adapters\/outbound\/([^/]+)/.exec(to) ?? [];
  return adapter !== undefined && !allowed.includes(adapter);
}

function check(root: string) {
  const { files, imports } = importsBelow(root);
  return {
    files,
    violations: violationsOf(RULES, imports),
    circles: circlesOf(imports),
    circlesOfFolders: circlesOf(imports, path.dirname),
    packages: imports.filter(({ to }) => isPackage(to)).length,
  };
}

describe('the sources', () => {
  const checked = check(process.cwd());

  test('follow every rule', () => {
    expect(checked.violations).toEqual([]);
  });

  test('have no circle of imports, and none of folders', () => {
    expect(checked.circles).toEqual([]);
    expect(checked.circlesOfFolders).toEqual([]);
  });

  test('were checked: a check that sees no file would report success', () => {
    expect(checked.packages).toBeGreaterThan(20);
    for (const part of ['domain', 'application', 'adapters/inbound', 'adapters/outbound']) {
      expect(checked.files.filter((file) => file.startsWith(`src/${part}/`)).length).toBeGreaterThan(5);
    }
  });
});

describe('a planted violation', () => {
  const checked = check(path.join(import.meta.dirname, 'planted'));

  test.each([
    ['the domain imports only itself and neverthrow', 'src/domain/imports-application.ts'],
    ['the domain imports only itself and neverthrow', 'src/domain/imports-package.ts'],
    ['the core knows nothing of Node', 'src/domain/imports-node.ts'],
    ['the application imports only inwards', 'src/application/imports-adapter.ts'],
    ['the application imports only inwards', 'src/application/imports-container-package.ts'],
    ['only the container knows its packages', 'src/application/imports-container-package.ts'],
    ['the core knows nothing of Node', 'src/application/imports-node.ts'],
    ['an inbound adapter imports no outbound one', 'src/adapters/inbound/imports-outbound.ts'],
    ['no adapter imports the composition', 'src/adapters/inbound/imports-main.ts'],
    ['nothing in the core knows answers but themselves', 'src/domain/grounded/imports-answers.ts'],
    ['the gateway knows nothing of grounded answers', 'src/domain/gateway/imports-grounded.ts'],
    ['values know no product', 'src/domain/values/imports-gateway.ts'],
    ['outbound adapters share only the network and files', 'src/adapters/outbound/oauth/imports-pages.ts'],
    ['what adapters share knows no other adapter', 'src/adapters/outbound/network/imports-pages.ts'],
    ['an outbound adapter imports no inbound one', 'src/adapters/outbound/imports-inbound.ts'],
    ['no adapter imports the composition', 'src/adapters/outbound/imports-container.ts'],
    ['only main imports the wiring', 'src/imports-wiring.ts'],
    ['only the container knows its packages', 'src/adapters/outbound/imports-container-package.ts'],
    ['nothing imports tests', 'src/adapters/outbound/imports-test.ts'],
    ['every import leads somewhere', 'src/adapters/outbound/imports-nothing.ts'],
  ])('of "%s" is caught in %s', (rule, file) => {
    const caught = checked.violations.filter((violation) => violation.startsWith(`${file} -> `));
    expect(caught.join('\n')).toContain(`: ${rule}`);
  });

  test('exists for every rule, and nothing else is caught', () => {
    expect(new Set(checked.violations.map((violation) => violation.replace(/.*: /, '')))).toEqual(
      new Set(RULES.map(({ name }) => name)),
    );
    expect(
      checked.violations.filter((violation) => !/^src\/(?:\S+\/)?imports-[a-z-]+\.ts -> /.test(violation)),
    ).toEqual([]);
  });

  test('is a circle of files, or only of folders', () => {
    expect(checked.circles).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^src\/domain\/imports-cycle-a\.ts -> /),
        expect.stringMatching(/^src\/adapters\/outbound\/imports-cycle-back\.ts -> /),
      ]),
    );
    expect(checked.circlesOfFolders).toEqual(
      expect.arrayContaining([
        'src/application/one -> src/application/two',
        'src/application/two -> src/application/one',
      ]),
    );
  });
});
