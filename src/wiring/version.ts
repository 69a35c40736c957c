declare const PACKAGE_VERSION: string | undefined;

/** The version of package.json, which the build inserts. Sources that run without a build, in tests, have none. */
export const VERSION = typeof PACKAGE_VERSION === 'string' ? PACKAGE_VERSION : '0.0.0-source';

export const PROGRAM = 'openai-responses-mcp';

export const IDENTITY = { name: PROGRAM, version: VERSION };

/** The entry point of the threads that read texts. With the version, a process whose files are replaced finds its own, or none. */
export const TEXT_WORKER = `chunks/text-worker-${VERSION}.js`;
