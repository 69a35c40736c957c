import type { ConfigOptions } from '../../../application/ports/config.ts';
import { readDebug } from './environment.ts';
import type { Tree } from './tree.ts';

/** The options that set a key to their value, by its path. */
export const OPTION_OF: Readonly<Record<string, string>> = {
  'server.debug_file': '--debug',
  'llm.recordings': '--offline',
  'llm.record': '--record',
  'http.listen': '--http',
};

/** The options as keys: a bare `--debug` or `--offline` switches on, a value behind them says where. */
export function readOptions({ debug, offline, record, http }: ConfigOptions): Tree {
  return {
    ...(debug === undefined
      ? {}
      : { server: debug === '' ? { debug: true } : (readDebug(debug) ?? { debug: true, debug_file: debug }) }),
    llm: {
      ...(offline === undefined ? {} : { adapter: 'offline' }),
      ...(offline ? { recordings: offline } : {}),
      ...(record === undefined ? {} : { record }),
    },
    ...(http ? { http: { listen: http } } : {}),
  };
}
