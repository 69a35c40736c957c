import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Node.js has this function only with a flag, which can be set while it runs. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
