declare const PACKAGE_VERSION: string | undefined;

/** The version of package.json, which the build inserts. Sources that run without a build, in tests, have none. */
export const VERSION = typeof PACKAGE_VERSION === 'string' ? PACKAGE_VERSION : '0.0.0-source';

export const PROGRAM = 'openai-responses-mcp';

export const IDENTITY = { name: PROGRAM, version: VERSION };
