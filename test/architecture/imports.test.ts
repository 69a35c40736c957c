import { dirname, join } from 'node:path/posix';
import { cruise, type IForbiddenRuleType } from 'dependency-cruiser';
import { describe, expect, test } from 'vitest';

/** The imports that are not allowed. Each rule has a violation under planted/, which it must catch. */
const RULES: readonly (IForbiddenRuleType & { readonly name: string })[] = [
  {
    name: 'the domain imports only itself and neverthrow',
    from: { path: '^src/domain/' },
    to: {
      pathNot: ['^src/domain/', '/node_modules/neverthrow/', '^node_modules/neverthrow/'],
      dependencyTypesNot: ['core'],
    },
  },
  {
    name: 'the application imports only inwards',
    from: { path: '^src/application/' },
    to: {
      pathNot: ['^src/(?:application|domain)/', '/node_modules/neverthrow/', '^node_modules/neverthrow/'],
      dependencyTypesNot: ['core'],
    },
  },
  {
    name: 'the core knows nothing of Node',
    from: { path: '^src/(?:domain|application)/' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'an inbound adapter imports no outbound one',
    from: { path: '^src/adapters/inbound/' },
    to: { path: '^src/adapters/outbound/' },
  },
  {
    name: 'an outbound adapter imports no inbound one',
    from: { path: '^src/adapters/outbound/' },
    to: { path: '^src/adapters/inbound/' },
  },
  {
    name: 'no adapter imports the composition',
    from: { path: '^src/adapters/' },
    to: { path: '^src/(?:wiring/|[^/]+\\.ts$)' },
  },
  {
    name: 'only main imports the wiring',
    from: { path: '^src/', pathNot: '^src/(?:main\\.ts$|wiring/)' },
    to: { path: '^src/wiring/' },
  },
  {
    name: 'the parts of HTTP below the server know only what they share',
    from: { path: '^src/adapters/inbound/http/(mcp|page|rest|shared)/' },
    to: { path: '^src/adapters/inbound/http/', pathNot: '^src/adapters/inbound/http/(?:$1|shared)/' },
  },
  {
    name: 'nothing in the core knows answers but themselves',
    from: { path: '^src/(?:domain|application)/(?:grounded|gateway|values|async)/' },
    to: { path: '^src/(?:domain|application)/answers/' },
  },
  {
    name: 'the gateway knows nothing of grounded answers',
    from: { path: '^src/(?:domain|application)/(?:gateway|values|async)/' },
    to: { path: '^src/(?:domain|application)/grounded/' },
  },
  {
    name: 'values know no product',
    from: { path: '^src/domain/values/' },
    to: { path: '^src/domain/(?!values/)' },
  },
  {
    name: 'outbound adapters share only the network and files',
    from: { path: '^src/adapters/outbound/([^/]+)/' },
    to: { path: '^src/adapters/outbound/', pathNot: '^src/adapters/outbound/(?:$1|network|files|logger)/' },
  },
  {
    name: 'what adapters share knows no other adapter',
    from: { path: '^src/adapters/outbound/(network|files)/' },
    to: { path: '^src/adapters/outbound/', pathNot: '^src/adapters/outbound/$1/' },
  },
  { name: 'no import cycle', from: { path: '^src/' }, to: { circular: true } },
  {
    name: 'only the container knows its packages',
    from: { path: '^src/', pathNot: '^src/wiring/container\\.ts$' },
    to: { path: 'node_modules/(?:tsyringe|reflect-metadata)/' },
  },
  { name: 'nothing imports tests', from: { path: '^src/' }, to: { path: '^test/' } },
  { name: 'every import leads somewhere', from: { path: '^src/' }, to: { couldNotResolve: true } },
];

async function check(baseDir: string) {
  const { output } = await cruise(['src'], {
    baseDir,
    validate: true,
    ruleSet: { forbidden: [...RULES] },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  });
  if (typeof output === 'string') throw new Error(output);
  return {
    modules: output.modules.map(({ source }) => source).filter((source) => source.startsWith('src/')),
    circles: folderCircles(output.modules),
    violations: output.summary.violations.map(({ rule, from, to }) => `${from} -> ${to}: ${rule.name}`),
  };
}

type Modules = Exclude<Awaited<ReturnType<typeof cruise>>['output'], string>['modules'];

/** The imports between folders from which a path leads back. */
function folderCircles(modules: Modules): readonly string[] {
  const isOurs = (file: string) => file.startsWith('src/');
  const below = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules.filter(({ source }) => isOurs(source))) {
    const folders = dependencies
      .map(({ resolved }) => resolved)
      .filter(isOurs)
      .map((file) => dirname(file));
    const known = below.get(dirname(source)) ?? new Set();
    below.set(dirname(source), new Set([...known, ...folders.filter((folder) => folder !== dirname(source))]));
  }
  const leadsTo = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(below.get(from) ?? [])].some((next) => next === to || (!seen.has(next) && leadsTo(next, to, seen.add(next))));
  return [...below].flatMap(([folder, others]) =>
    [...others].filter((other) => leadsTo(other, folder)).map((other) => `${folder} -> ${other}`),
  );
}

describe('the sources', () => {
  const checked = check(process.cwd());

  test('follow every rule', async () => {
    expect((await checked).violations).toEqual([]);
  });

  test('have no circle of folders', async () => {
    expect((await checked).circles).toEqual([]);
  });

  test('were checked: a check that sees no file would report success', async () => {
    const { modules } = await checked;
    expect(modules.length).toBeGreaterThan(60);
    for (const part of ['domain', 'application', 'adapters/inbound', 'adapters/outbound']) {
      expect(modules.filter((module) => module.startsWith(`src/${part}/`)).length).toBeGreaterThan(5);
    }
  });
});

describe('a planted violation', () => {
  const checked = check(join(import.meta.dirname, 'planted'));
  const [
    domainOnly,
    inwards,
    noNode,
    noOutbound,
    noInbound,
    noComposition,
    onlyMain,
    onlyShared,
    noAnswers,
    noGrounded,
    onlyValues,
    onlyNetwork,
    networkAlone,
    noCycle,
    onlyContainer,
    noTests,
    resolves,
  ] = RULES.map(({ name }) => name);

  test.each([
    [domainOnly, 'src/domain/imports-application.ts'],
    [domainOnly, 'src/domain/imports-package.ts'],
    [noNode, 'src/domain/imports-node.ts'],
    [inwards, 'src/application/imports-adapter.ts'],
    [inwards, 'src/application/imports-container-package.ts'],
    [onlyContainer, 'src/application/imports-container-package.ts'],
    [noNode, 'src/application/imports-node.ts'],
    [noOutbound, 'src/adapters/inbound/imports-outbound.ts'],
    [noComposition, 'src/adapters/inbound/imports-main.ts'],
    [onlyShared, 'src/adapters/inbound/http/shared/imports-rest.ts'],
    [noAnswers, 'src/domain/grounded/imports-answers.ts'],
    [noGrounded, 'src/domain/gateway/imports-grounded.ts'],
    [onlyValues, 'src/domain/values/imports-gateway.ts'],
    [onlyNetwork, 'src/adapters/outbound/oauth/imports-pages.ts'],
    [networkAlone, 'src/adapters/outbound/network/imports-pages.ts'],
    [noInbound, 'src/adapters/outbound/imports-inbound.ts'],
    [noComposition, 'src/adapters/outbound/imports-container.ts'],
    [onlyMain, 'src/imports-wiring.ts'],
    [noCycle, 'src/domain/imports-cycle-a.ts'],
    [noCycle, 'src/adapters/outbound/imports-cycle-back.ts'],
    [onlyContainer, 'src/adapters/outbound/imports-container-package.ts'],
    [noTests, 'src/adapters/outbound/imports-test.ts'],
    [resolves, 'src/adapters/outbound/imports-nothing.ts'],
  ])('of "%s" is caught in %s', async (rule, file) => {
    const { violations } = await checked;
    expect(violations.filter((violation) => violation.startsWith(`${file} -> `)).join('\n')).toContain(`: ${rule}`);
  });

  test('is a circle of folders, without one of files', async () => {
    expect((await checked).circles).toEqual(
      expect.arrayContaining([
        'src/application/one -> src/application/two',
        'src/application/two -> src/application/one',
      ]),
    );
  });

  test('exists for every rule, and nothing else is caught', async () => {
    const { violations } = await checked;
    expect(new Set(violations.map((violation) => violation.split(': ')[1]))).toEqual(
      new Set(RULES.map(({ name }) => name)),
    );
    expect(violations.filter((violation) => !/^src\/(?:\S+\/)?imports-[a-z-]+\.ts -> /.test(violation))).toEqual([]);
  });
});
