import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { loadConfig } from '../../src/adapters/outbound/config/load-config.ts';
import type { CommandLineOptions } from '../../src/adapters/outbound/config/set-keys.ts';
import type { Environment } from '../../src/adapters/outbound/network/environment.ts';
import { HOME_VARIABLE } from './platform.ts';

/** For each test a folder, which is the home folder too, and configurations in it: YAML, or what it contains. */
export function givenConfig() {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-'));
    vi.stubEnv(HOME_VARIABLE, folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const at = (...path: readonly string[]) => join(folder, ...path);
  const load = (
    config: string | object | undefined,
    environment: Environment = {},
    commandLine: CommandLineOptions = {},
  ) => {
    if (config !== undefined)
      writeFileSync(at('config.yaml'), typeof config === 'string' ? config : JSON.stringify(config));
    const file: CommandLineOptions = config === undefined ? {} : { '--config': at('config.yaml') };
    return loadConfig({ environment, commandLine: { ...file, ...commandLine }, version: '1.2.3' });
  };
  return {
    at,
    load,
    acceptedConfig: async (...given: Parameters<typeof load>) => {
      const loaded = await load(...given);
      return 'value' in loaded ? loaded.value : expect.fail(JSON.stringify(loaded.problems));
    },
    problemsOf: async (...given: Parameters<typeof load>) => {
      const loaded = await load(...given);
      return 'problems' in loaded ? loaded.problems : expect.fail('nothing is wrong');
    },
  };
}
