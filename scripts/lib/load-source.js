import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** What the documents are generated from. */
export function loadSource() {
  return loadBundle(`
    export { KEYS } from './src/adapters/outbound/config/keys.ts';
    export * as kinds from './src/adapters/outbound/config/value-kinds.ts';
    export { SERVER_TABLE } from './src/adapters/outbound/config/server-entry.ts';
    export { USAGE } from './src/adapters/inbound/cli/usage.ts';
    export { toolErrorCode } from './src/adapters/inbound/words/tool-error-messages.ts';
    export { answerToolList } from './src/adapters/inbound/mcp/answer-schemas.ts';
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
  const bundle = await rolldown({ cwd, input: 'entry', platform: 'node', logLevel: 'warn', plugins: [virtual] });
  const { output } = await bundle.generate({ format: 'es' });
  await bundle.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
