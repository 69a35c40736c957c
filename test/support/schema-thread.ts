import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll } from 'vitest';

/** The main module of the thread that checks values, from the sources: a thread of Node.js 20 cannot load TypeScript. For one test file. */
export async function bundledSchemaThread(): Promise<URL> {
  const folder = mkdtempSync(path.join(tmpdir(), 'schema-thread-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'schema-worker.cjs');
  const bundle = await rolldown({ input: 'src/adapters/outbound/mcp-client/schema-worker.ts', platform: 'node' });
  await bundle.write({ file, format: 'cjs' });
  await bundle.close();
  return pathToFileURL(file);
}
