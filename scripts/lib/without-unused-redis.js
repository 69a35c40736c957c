/**
 * The parts of `@redis/client` that this program does not use, and what replaces them in the bundle. It sends scripts only, with
 * `sendCommand`, in RESP 2 and without notifications of maintenance. These parts are two thirds of the size.
 */
const REPLACEMENTS = {
  // The methods for all commands; the client itself sends AUTH.
  'commands/index.js': "exports.default = { AUTH: require('./AUTH').default };",
  'command-metadata/command-metadata-data.js': 'exports.COMMAND_METADATA = {};',
  'client/pool.js': 'exports.RedisClientPool = class {};',
  'client/cache.js': 'exports.ClientSideCacheProvider = class {}; exports.BasicClientSideCache = class {};',
  'client/legacy-mode.js': 'exports.RedisLegacyClient = class {};',
  'client/enterprise-maintenance-manager.js':
    'exports.default = { getHandshakeCommand: async () => undefined }; exports.dbgMaintenance = () => {};',
  'opentelemetry/index.js': 'exports.ClientRegistry = { instance: { register() {}, unregister() {} } };',
};

/** A plugin of the bundler. A part that no longer exists is an error, because its successor would be bundled. */
export const withoutUnusedRedis = {
  name: 'without-unused-redis',
  replaced: new Set(),
  load(id) {
    const [, part] = /@redis\/client\/dist\/lib\/(.*)$/.exec(id.replaceAll('\\', '/')) ?? [];
    if (part === undefined || !Object.hasOwn(REPLACEMENTS, part)) return undefined;
    withoutUnusedRedis.replaced.add(part);
    return `exports.__esModule = true; ${REPLACEMENTS[part]}`;
  },
  buildEnd() {
    const missing = Object.keys(REPLACEMENTS).filter((part) => !withoutUnusedRedis.replaced.has(part));
    if (missing.length > 0) throw new Error(`@redis/client has no ${missing.join(', ')} any more`);
  },
};
