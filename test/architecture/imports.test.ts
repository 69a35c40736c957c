import { join } from 'node:path';
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
    violations: output.summary.violations.map(({ rule, from, to }) => `${from} -> ${to}: ${rule.name}`),
  };
}

describe('the sources', () => {
  const checked = check(process.cwd());

  test('follow every rule', async () => {
    expect((await checked).violations).toEqual([]);
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

  test('exists for every rule, and nothing else is caught', async () => {
    const { violations } = await checked;
    expect(new Set(violations.map((violation) => violation.split(': ')[1]))).toEqual(
      new Set(RULES.map(({ name }) => name)),
    );
    expect(violations.filter((violation) => !/^src\/(?:\S+\/)?imports-[a-z-]+\.ts -> /.test(violation))).toEqual([]);
  });
});
