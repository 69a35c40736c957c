declare const PACKAGE_VERSION: string | undefined;

/** The version of package.json, put in by the build; sources that run unbuilt, in tests, have none. */
export const VERSION = typeof PACKAGE_VERSION === 'string' ? PACKAGE_VERSION : '0.0.0-source';

export const PROGRAM = 'openai-responses-mcp';

export const IDENTITY = { name: PROGRAM, version: VERSION };
