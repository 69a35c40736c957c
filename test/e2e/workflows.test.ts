import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './serve.ts';

// That the workflows are valid and pinned, and keep no token, is checked by zizmor and check-jsonschema in CI.

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly needs?: string;
  readonly strategy?: { readonly matrix: { readonly os: string[]; readonly 'node-version': number[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const CI = parse(read('.github/workflows/ci.yml')) as Workflow;
const RELEASE = parse(read('.github/workflows/release.yml')) as Workflow;
const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };

describe('ci.yml', () => {
  test('tests on three systems, with every supported version of Node.js', () => {
    const matrix = CI.jobs.test?.strategy?.matrix;
    expect(matrix).toEqual({
      os: ['ubuntu-latest', 'windows-latest', 'macos-latest'],
      'node-version': [20, 22, 24, 26],
    });
    expect(engines.node).toBe(`>=${Math.min(...(matrix?.['node-version'] ?? []))}`);
  });

  test('runs for every push and every pull request', () => {
    expect(CI.on).toEqual({ push: null, pull_request: null });
  });

  test('runs the scripts of the specification in its order, after a build', () => {
    const { steps = [] } = CI.jobs['build-and-test'] ?? {};
    expect(steps.map(({ uses = '', run = uses.replace(/@.*/, '') }) => run)).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'npm ci',
      'npm run build',
      'node scripts/test-tools-list.js',
      'node scripts/test-cancel-noinflight.js',
      'node scripts/test-cancel-during-call.js',
    ]);
    expect(steps[1]?.with).toEqual({ 'node-version': '20', cache: 'npm' });
  });

  test('has one secret, in the one step that needs it, so that no other step can read the key', () => {
    expect(read('.github/workflows/ci.yml').match(/secrets\./g)).toHaveLength(1);
    expect(CI.jobs['build-and-test']?.steps.at(-1)?.env).toEqual({
      OPENAI_API_KEY: '\u0024{{ secrets.OPENAI_API_KEY }}',
    });
  });
});

test('nightly.yml runs the load tests in their full size', () => {
  const { on, jobs } = parse(read('.github/workflows/nightly.yml')) as Workflow;
  expect(on).toHaveProperty('schedule');
  expect(jobs.load?.steps).toContainEqual({ run: 'npm run test:load', env: { TEST_SIZE: 'full' } });
});

describe('release.yml', () => {
  const commandsOf = (job: Job | undefined) => job?.steps.map(({ run = '' }) => run).join('\n') ?? '';

  const stepsWith = (job: Job | undefined, action: string) =>
    job?.steps.filter(({ uses }) => uses?.startsWith(`${action}@`)).map((step) => step.with) ?? [];

  test('compares the tag with the version before it installs anything, then tests, then packs', () => {
    const commands = commandsOf(RELEASE.jobs.build);
    const order = ['release-notes.js', 'npm ci', 'npm test', 'npm pack', 'scripts/bundle.js'];
    const positions = order.map((command) => commands.indexOf(command));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test('publishes what was tested: builds once, and makes the image of the package', () => {
    const commands = Object.values(RELEASE.jobs).map(commandsOf).join('\n');
    expect(commands).not.toMatch(/npm run b|scripts\/build/);
    const { image } = RELEASE.jobs;
    expect(stepsWith(image, 'actions/download-artifact')).toEqual([{ name: 'release', path: 'release' }]);
    expect(commandsOf(image)).toContain('--directory release/build/source --file release/openai-responses-mcp-*.tgz');
    expect(stepsWith(image, 'docker/build-push-action')).toMatchObject([{ 'build-contexts': 'build=release/build' }]);
    expect(read('deploy/Dockerfile')).toMatch(/ AS build\nWORKDIR \/source\n/);
  });

  test('runs code of dependencies only in the job that can do nothing but read', () => {
    expect(RELEASE.jobs.build?.permissions).toEqual({ contents: 'read' });
    for (const [name, job] of Object.entries(RELEASE.jobs)) {
      if (name !== 'build') expect(commandsOf(job)).not.toMatch(/\bnpm (?:ci|i|install|run|test|exec)\b|\bnpx\b/);
    }
  });

  test('publishes nothing before a person has approved it', () => {
    const { build, npm, ...others } = RELEASE.jobs;
    expect(build?.needs).toBeUndefined();
    expect(npm).toMatchObject({ needs: 'build', environment: 'release' });
    for (const job of Object.values(others)) expect(job.needs).toBe('npm');
  });
});
