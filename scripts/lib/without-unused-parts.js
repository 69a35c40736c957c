import { readFileSync } from 'node:fs';

const REDIS = '@redis/client/dist/lib/';
const redis = (code) => `exports.__esModule = true; ${code}`;

/** The modules of packages that this program does not use, and what replaces them in the bundle. */
const REPLACEMENTS = {
  // Dates and JSON-LD contain no named entities but those of XML: the table of HTML's two thousand others is left out.
  'entities/dist/esm/generated/decode-data-html.js':
    "export { xmlDecodeTree as htmlDecodeTree } from './decode-data-xml.js';",
  // undici contains its HTTP parser twice, with SIMD and without, for engines that lack it. SIMD saves about 1 % of the instructions of a short call.
  'undici/lib/llhttp/llhttp_simd-wasm.js': "module.exports = require('./llhttp-wasm.js');",
  // HTTP/2 is not allowed by default, and to load node:http2 takes longer than all of undici.
  'undici/lib/dispatcher/client-h2.js': "module.exports = () => { throw new Error('HTTP/2 is not supported.'); };",
  // This program sends scripts only, with `sendCommand`, in RESP 2 and without notifications of maintenance. The rest is two thirds of the size.
  // The methods for all commands; the client itself sends AUTH.
  [`${REDIS}commands/index.js`]: redis("exports.default = { AUTH: require('./AUTH').default };"),
  [`${REDIS}command-metadata/command-metadata-data.js`]: redis('exports.COMMAND_METADATA = {};'),
  [`${REDIS}client/pool.js`]: redis('exports.RedisClientPool = class {};'),
  [`${REDIS}client/cache.js`]: redis(
    'exports.ClientSideCacheProvider = class {}; exports.BasicClientSideCache = class {};',
  ),
  [`${REDIS}client/legacy-mode.js`]: redis('exports.RedisLegacyClient = class {};'),
  [`${REDIS}client/enterprise-maintenance-manager.js`]: redis(
    'exports.default = { getHandshakeCommand: async () => undefined }; exports.dbgMaintenance = () => {};',
  ),
  [`${REDIS}opentelemetry/index.js`]: redis(
    'exports.ClientRegistry = { instance: { register() {}, unregister() {} } };',
  ),
};

const replaced = new Set();

/** A plugin of the bundler. A module that no longer exists is an error, because its successor would be bundled. */
export const withoutUnusedParts = {
  name: 'without-unused-parts',
  load(id) {
    const file = Object.keys(REPLACEMENTS).find((file) => id.replaceAll('\\', '/').endsWith(`/node_modules/${file}`));
    if (file !== undefined) replaced.add(file);
    // Node.js loads its own undici, beside the one in the bundle, with the first use of its global classes.
    if (id.endsWith('headers.mjs') && /node_modules.openai.internal/.test(id))
      return `import { Headers } from 'undici';\n${readFileSync(id, 'utf8')}`;
    return REPLACEMENTS[file];
  },
  buildEnd() {
    const missing = Object.keys(REPLACEMENTS).filter((file) => !replaced.has(file));
    if (missing.length > 0)
      throw new Error(`These modules are no longer bundled, so that nothing replaces them: ${missing.join(', ')}`);
  },
};
