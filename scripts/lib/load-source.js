import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** The exports from which the documents are generated. */
export function loadSource() {
  return loadBundle(`
    export { KEYS } from './src/adapters/outbound/config/keys.ts';
    export { CLIENTS } from './src/adapters/outbound/config/clients.ts';
    export { CLIENT_KEYS } from './src/adapters/outbound/config/client-keys.ts';
    export { SERVER_TABLE } from './src/adapters/outbound/config/server-keys.ts';
    export { entry as accessEntry } from './src/adapters/outbound/config/sections.ts';
    export { ANSWER_OUTCOMES, TOOL_OUTCOMES } from './scripts/lib/outcomes.ts';
    export { usage } from './src/adapters/inbound/cli/usage.ts';
    export { toolErrorCode } from './src/adapters/inbound/words/tool-error-messages.ts';
    export { answerToolList } from './src/adapters/inbound/mcp/tool-schemas.ts';
  `);
}

/** The exports of a module of `export` lines with paths from the root. Bundled, because Node.js 20 cannot import TypeScript. */
export async function loadBundle(entry) {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const virtual = {
    name: 'entry',
    resolveId: (id) => (id === 'entry' ? `${cwd}entry.ts` : undefined),
    load: (id) => (id === `${cwd}entry.ts` ? entry : undefined),
  };
  // Some packages load their parts in a way that only works unbundled, unless their ES modules are used.
  const resolve = { mainFields: ['es2015', 'module', 'main'] };
  const bundle = await rolldown({
    cwd,
    input: 'entry',
    platform: 'node',
    resolve,
    logLevel: 'warn',
    plugins: [virtual],
  });
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  const file = join(folder, 'bundle.mjs');
  await bundle.write({ file, format: 'es', codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href).finally(() => rmSync(folder, { recursive: true }));
}
