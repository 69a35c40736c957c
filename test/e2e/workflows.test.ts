import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './serve.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly environment?: string;
  readonly needs?: string;
  readonly strategy?: { readonly matrix: { readonly os: string[]; readonly 'node-version': number[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions?: unknown;
  readonly concurrency?: { readonly 'cancel-in-progress'?: boolean };
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const TEXTS = { ci: read('.github/workflows/ci.yml'), release: read('.github/workflows/release.yml') };
const CI = parse(TEXTS.ci) as Workflow;
const RELEASE = parse(TEXTS.release) as Workflow;
const { engines, scripts } = JSON.parse(read('package.json')) as {
  engines: { node: string };
  scripts: Readonly<Record<string, string>>;
};

describe.each([
  ['ci.yml', TEXTS.ci, CI],
  ['release.yml', TEXTS.release, RELEASE],
])('%s', (_name, text, workflow) => {
  const jobs = Object.entries(workflow.jobs);
  const steps = jobs.flatMap(([, job]) => job.steps);

  test('uses every action by commit, with its version as a comment', () => {
    const lines = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('uses one version of each action', () => {
    const uses = Object.values(TEXTS).flatMap((text) => text.match(/(?<=uses: )\S+ # \S+/g) ?? []);
    const names = new Set(uses.map((use) => use.split('@')[0]));
    expect(new Set(uses).size).toBe(names.size);
  });

  test('grants no permission by default, and to each job what it names', () => {
    expect(workflow.permissions).toEqual({});
    expect(jobs.filter(([, { permissions = {} }]) => Object.keys(permissions).length === 0)).toEqual([]);
  });

  test('never keeps the token of a checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(0);
    for (const checkout of checkouts) expect(checkout.with).toMatchObject({ 'persist-credentials': false });
  });

  test('limits the time of every job', () => {
    expect(jobs.filter(([, job]) => job['timeout-minutes'] === undefined)).toEqual([]);
  });

  test('installs no global tools, and no tool without an exact version', () => {
    const commands = steps.map(({ run = '' }) => run);
    expect(commands.filter((run) => /\bnpm (?:i|install)\b|@latest\b|releases\/latest/.test(run))).toEqual([]);
    const tools = commands.filter((run) => /\bnpx\b/.test(run));
    for (const run of tools) expect(run).toMatch(/^npx --yes @[\w-]+\/[\w-]+@\d+\.\d+\.\d+ /);
  });

  test('inserts nothing into a shell script that others can choose', () => {
    expect(steps.filter(({ run }) => /\$\{\{/.test(run ?? ''))).toEqual([]);
  });

  test('runs scripts that exist', () => {
    const commands = steps.map(({ run = '' }) => run).join('\n');
    const named = [...commands.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
    const files = [...commands.matchAll(/\bnode (scripts\/\S+)/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });
});

describe('ci.yml', () => {
  test('validates the manifests where they are', () => {
    const validated = CI.jobs.manifests?.steps.flatMap(
      ({ run = '' }) => /@([\w/-]+)@.* validate (\S+)/.exec(run)?.slice(1) ?? [],
    );
    expect(validated).toEqual([
      ...['anthropic-ai/claude-code', '.'],
      ...['anthropic-ai/mcpb', 'deploy/mcpb/manifest.json'],
      ...['google/gemini-cli', '.'],
    ]);
    const manifests = ['.claude-plugin/marketplace.json', 'deploy/mcpb/manifest.json', 'gemini-extension.json'];
    expect(manifests.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  test('tests on three systems, with every supported version of Node.js', () => {
    const matrix = CI.jobs.test?.strategy?.matrix;
    expect(matrix).toEqual({
      os: ['ubuntu-latest', 'windows-latest', 'macos-latest'],
      'node-version': [20, 22, 24, 26],
    });
    expect(engines.node).toBe(`>=${Math.min(...(matrix?.['node-version'] ?? []))}`);
  });

  test('runs no scripts of dependencies where a step has the key', () => {
    const withKey = Object.values(CI.jobs).filter(({ steps }) => JSON.stringify(steps).includes('secrets.'));
    expect(withKey).toHaveLength(1);
    for (const { steps } of withKey)
      expect(steps.map(({ run = '' }) => run).filter((run) => run.startsWith('npm ci'))).toEqual([
        'npm ci --ignore-scripts',
      ]);
  });

  test('may only read, and ends a run that a newer commit replaces', () => {
    for (const job of Object.values(CI.jobs)) expect(job.permissions).toEqual({ contents: 'read' });
    expect(CI.concurrency).toMatchObject({ 'cancel-in-progress': true });
  });
});

test('runs the images of the builders by digest', () => {
  const steps = [CI, RELEASE].flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
  const inputs = steps.filter(({ uses = '' }) => uses.startsWith('docker/')).map((step) => step.with ?? {});
  const images = inputs.flatMap((input) => [input['driver-opts'], input.image, input.sbom].filter(Boolean));
  expect(images).toHaveLength(4);
  for (const image of images) expect(image).toMatch(/[\w-]+\/[\w-]+:[\w.-]+@sha256:[\da-f]{64}$/);
});

describe('release.yml', () => {
  const commandsOf = (job: Job | undefined) => job?.steps.map(({ run = '' }) => run).join('\n') ?? '';

  const stepsWith = (job: Job | undefined, action: string) =>
    job?.steps.filter(({ uses }) => uses?.startsWith(`${action}@`)).map((step) => step.with) ?? [];

  test('is started by tags only', () => {
    expect(RELEASE.on).toEqual({ push: { tags: ['v*'] } });
  });

  test('uses Node.js 24, whose npm can publish without a token, and no cache', () => {
    const versions = Object.values(RELEASE.jobs).flatMap((job) => stepsWith(job, 'actions/setup-node'));
    expect(versions).toHaveLength(2);
    for (const version of versions) expect(version).toEqual({ 'node-version': 24, 'package-manager-cache': false });
  });

  test('attests the package, the bundle and their sums, and releases them with the notes of the changelog', () => {
    const packed = commandsOf(RELEASE.jobs.build);
    expect(packed).toContain('node scripts/release-notes.js "$GITHUB_REF_NAME" > release/notes.md\n');
    expect(packed).toContain('sha256sum -- *.tgz *.mcpb *.sbom.cdx.json | tee SHA256SUMS');
    expect(stepsWith(RELEASE.jobs.build, 'actions/upload-artifact')).toMatchObject([
      { path: 'release', 'if-no-files-found': 'error' },
    ]);
    expect(stepsWith(RELEASE.jobs.github, 'actions/attest')).toEqual([
      { 'subject-checksums': 'SHA256SUMS' },
      { 'subject-path': 'openai-responses-mcp-*.tgz', 'sbom-path': 'openai-responses-mcp.sbom.cdx.json' },
    ]);
    expect(commandsOf(RELEASE.jobs.github).trim()).toBe(
      'gh release create "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --verify-tag --title "$GITHUB_REF_NAME" ' +
        '--notes-file notes.md ./*.tgz ./*.mcpb ./*.sbom.cdx.json SHA256SUMS',
    );
  });

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

  test('gives each job that publishes only the permissions for its place', () => {
    const { npm, github, image, registry } = RELEASE.jobs;
    expect(npm?.permissions).toEqual({ 'id-token': 'write' });
    expect(github?.permissions).toEqual({ contents: 'write', 'id-token': 'write', attestations: 'write' });
    const { contents, ...others } = image?.permissions ?? {};
    expect(contents).toBe('read');
    expect(others).toEqual({ packages: 'write', 'id-token': 'write', attestations: 'write' });
    expect(registry?.permissions).toEqual({ 'id-token': 'write' });
  });

  test('publishes nothing before a person has approved it', () => {
    const { build, npm, ...others } = RELEASE.jobs;
    expect(build?.needs).toBeUndefined();
    expect(npm).toMatchObject({ needs: 'build', environment: 'release' });
    for (const job of Object.values(others)) expect(job.needs).toBe('npm');
  });

  test('publishes the packed file without running its scripts', () => {
    expect(commandsOf(RELEASE.jobs.npm)).toBe(
      '\n\nnpm publish ./openai-responses-mcp-*.tgz --provenance --access public --ignore-scripts',
    );
  });

  test('checks the publisher of the registry before running it', () => {
    const commands = commandsOf(RELEASE.jobs.registry);
    expect(commands).toMatch(/registry\/releases\/download\/v\d+\.\d+\.\d+\/mcp-publisher_linux_amd64\.tar\.gz\n/);
    expect(commands).toMatch(/echo "[\da-f]{64} {2}mcp-publisher\.tar\.gz" \| sha256sum --check --strict\ntar /);
    expect(commands).toMatch(/\n\.\/mcp-publisher login github-oidc\n\.\/mcp-publisher publish server\.json$/);
  });

  test('builds the image for two platforms, with bill of materials, provenance and attestation', () => {
    const [push] = stepsWith(RELEASE.jobs.image, 'docker/build-push-action');
    expect(push).toMatchObject({
      file: 'deploy/Dockerfile',
      platforms: 'linux/amd64,linux/arm64',
      push: true,
      provenance: 'mode=max',
    });
    expect(stepsWith(RELEASE.jobs.image, 'actions/attest')).toMatchObject([{ 'push-to-registry': true }]);
  });
});

test('dependabot raises actions, packages and the base image', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as { updates: Record<string, string>[] };
  expect(updates.map((update) => [update['package-ecosystem'], update.directory])).toEqual([
    ['github-actions', '/'],
    ['npm', '/'],
    ['docker', '/deploy'],
  ]);
});
