import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { freePort } from '../support/free-port.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { ROOT } from './serve.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

interface ServerContainer {
  readonly securityContext: unknown;
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly hostPort?: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: boolean }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly readinessProbe: { readonly timeoutSeconds: number };
  readonly livenessProbe: { readonly timeoutSeconds: number };
  readonly resources: { readonly limits: { readonly memory: string } };
}

interface ServerPod {
  readonly securityContext: unknown;
  readonly volumes: readonly { readonly name: string; readonly secret?: object }[];
  readonly terminationGracePeriodSeconds: number;
  readonly automountServiceAccountToken: boolean;
  readonly topologySpreadConstraints: readonly object[];
  readonly containers: readonly [ServerContainer];
}

describe('deploy/kubernetes.yaml', () => {
  const text = read('deploy/kubernetes.yaml');
  // Kubernetes reads YAML 1.1, where 0440 is octal.
  const documents = parseAllDocuments(text, { version: '1.1' }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Record<string, unknown> & { kind: string; spec: Record<string, unknown> };
  });
  const specOf = (kind: string) => documents.find((document) => document.kind === kind)?.spec ?? {};
  const labels = { app: 'openai-responses-mcp' };
  const template = specOf('Deployment').template as { metadata: { labels: object }; spec: ServerPod };
  const pod = template.spec;
  const [server] = pod.containers;
  const variable = (name: string) => server.env.find((one) => one.name === name);

  test('runs the published image of this version', () => {
    expect(server.image).toBe(`ghcr.io/uchimanajet7/openai-responses-mcp:${version}`);
  });

  test.for(['deploy/cloud-run.md', 'deploy/azure.md', 'docs/scaling.md'])('%s names the same image', (file) => {
    const tags = [...read(file).matchAll(/uchimanajet7\/openai-responses-mcp:([\w.-]+)/g)].map(([, tag]) => tag);
    expect(new Set(tags)).toEqual(new Set([version]));
  });

  test('gives the process time to drain, and the gateway to stop its servers', () => {
    const pauseS = server.lifecycle.preStop.sleep.seconds;
    const drainS = Number(variable('MCP_HTTP_DRAIN_MS')?.value) / 1000;
    const serversS = 4;
    const lastRequestsS = 3;
    expect(drainS).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pauseS + drainS + lastRequestsS + serversS);
  });

  test('spreads the pods, waits for a busy process, and reaches DNS on the node', () => {
    expect(pod.topologySpreadConstraints).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
    ]);
    for (const probe of [server.readinessProbe, server.livenessProbe]) expect(probe.timeoutSeconds).toBe(5);
    const [dns] = specOf('NetworkPolicy').egress as readonly { to: object[]; ports: { port: number }[] }[];
    expect(dns?.to).toContainEqual({ ipBlock: { cidr: '169.254.20.10/32' } });
    expect(dns?.ports.map(({ port }) => port)).toEqual([53, 53]);
  });

  test('limits the heap to what the memory limit leaves', () => {
    const limitMiB = Number(/^(\d+)Mi$/.exec(server.resources.limits.memory)?.[1]);
    const option = (name: string) =>
      Number(new RegExp(`--${name}=(\\d+)`).exec(variable('NODE_OPTIONS')?.value ?? '')?.[1]);
    const heapMiB = option('max-old-space-size') + 3 * option('max-semi-space-size');
    expect(heapMiB / limitMiB).toBeGreaterThan(0.5);
    expect(heapMiB / limitMiB).toBeLessThanOrEqual(0.75);
  });

  test('mounts the API key as a file, not readable by others, and sets no variable with it', () => {
    const [mount] = server.volumeMounts;
    const volume = pod.volumes?.find(({ name }) => name === mount?.name);
    expect(volume?.secret).toMatchObject({ defaultMode: 0o440, items: [{ key: 'openai-api-key' }] });
    expect(mount?.readOnly).toBe(true);
    expect(variable('OPENAI_API_KEY_FILE')?.value).toBe(`${mount?.mountPath}/openai-api-key`);
    expect(variable('OPENAI_API_KEY')).toBeUndefined();
    expect(text).toContain('--from-literal=openai-api-key=');
  });

  test('selects the same pods everywhere, and one port', () => {
    expect(template.metadata.labels).toEqual(labels);
    expect(specOf('Deployment').selector).toEqual({ matchLabels: labels });
    expect(specOf('PodDisruptionBudget').selector).toEqual({ matchLabels: labels });
    expect(specOf('NetworkPolicy').podSelector).toEqual({ matchLabels: labels });
    expect(specOf('Service').selector).toEqual(labels);
    expect(server.ports).toEqual([{ name: 'http', containerPort: 8080 }]);
    expect(read('deploy/Dockerfile')).toContain('MCP_HTTP_LISTEN=0.0.0.0:8080');
  });
});

describe('deploy/azure.md', () => {
  const text = read('deploy/azure.md');

  test('has a host.json whose command serves MCP at its port', async () => {
    const [, json = ''] = /```json\n(.*?)```/s.exec(text) ?? [];
    const { customHandler, ...host } = JSON.parse(json) as {
      readonly customHandler: { readonly description: { arguments: string[] }; readonly port: string };
    };
    expect(host).toEqual({ version: '2.0', configurationProfile: 'mcp-custom-handler' });
    const { description, port } = customHandler;
    const [program, option = ''] = description.arguments;
    expect(description).toEqual({ defaultExecutablePath: 'node', arguments: [program, option] });
    const { bin } = JSON.parse(read('package.json')) as { bin: Record<string, string> };
    expect(program).toBe(`node_modules/openai-responses-mcp/${Object.values(bin)[0]}`);
    expect(option).toBe(`--http=127.0.0.1:${port}`);
    const free = await freePort();
    const env = { MCP_HTTP_TOKEN: 'token-of-clients-0123456789', MCP_HTTP_ALLOWED_HOSTS: 'app.azurewebsites.net' };
    const { url } = await startHttpProcess({ args: [option.replace(port, String(free)), '--offline'], env });
    expect(url).toBe(`http://127.0.0.1:${free}/mcp`);
    const forwarded = { Host: 'app.azurewebsites.net', 'X-Forwarded-For': '203.0.113.7' };
    const headers = { ...forwarded, Authorization: `Bearer ${env.MCP_HTTP_TOKEN}` };
    expect((await send(url, { body: legacy('ping'), headers })).status).toBe(200);
    expect((await send(url, { body: legacy('ping'), headers: forwarded })).status).toBe(401);
  });
});

describe('deploy/Dockerfile', () => {
  const text = read('deploy/Dockerfile');
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  const [build = '', final = ''] = lines
    .join('\n')
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith('FROM '));
  const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, files = '']) => files.split(' '));

  test('uses one base image, by digest', () => {
    const images = lines.filter((line) => line.startsWith('FROM ')).map((line) => /node:\S+/.exec(line)?.[0]);
    expect(images).toHaveLength(2);
    expect(images[0]).toMatch(/^node:24\.\d+\.\d+-alpine\d\.\d+@sha256:[\da-f]{64}$/);
    expect(images[1]).toBe(images[0]);
  });

  test('runs the program as a user that is not root, under an init process, over HTTP by default', () => {
    expect(final).toContain('\nUSER 1000:1000\n');
    expect(final).toContain('\nENTRYPOINT ["tini", "--", "node", "/app/build/index.js"]\nCMD ["--http"]\n');
  });

  test('is given only what it copies, and no file with keys', () => {
    const rules = read('deploy/Dockerfile.dockerignore').split('\n');
    expect(rules.filter((rule) => !rule.startsWith('#'))[0]).toBe('*');
    const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1).replace(/\/\*.*/, ''));
    expect(allowed.toSorted()).toEqual(copied.toSorted());
    expect(rules.slice(-5)).toEqual(expect.arrayContaining(['**/.env*', '**/.npmrc']));
  });
});
