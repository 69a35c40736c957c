import type { HttpConfig } from '../adapters/outbound/config/http-config.ts';
import { listOfProblems, readTokenFile } from '../adapters/outbound/config/token-file.ts';
import type { Runtime } from './runtime.ts';

/** The tokens of callers: those of variables, and those of `http.token_file` as it was when it could last be used. */
export function composeTokens(
  { tokens, tokenFile }: HttpConfig,
  { logger, stderr }: Pick<Runtime, 'logger' | 'stderr'>,
  onReload: (isSuccessful: boolean) => void,
) {
  let current = tokenFile !== undefined && 'tokens' in tokenFile ? [...tokens, ...tokenFile.tokens] : tokens;
  let content = tokenFile?.content;
  return {
    current: () => current,
    /** Reads the file again, if there is one. A file with a problem changes nothing. */
    reload: () => {
      if (tokenFile === undefined) return;
      const { path } = tokenFile;
      const read = readTokenFile(path, tokens);
      // A signal and the watch may report the same change.
      if (read.content === content) return;
      content = read.content;
      onReload('tokens' in read);
      if ('problems' in read) {
        logger.warn(`http.token_file: the tokens stay as they were: ${listOfProblems(read.problems)} (in ${path})`);
        return;
      }
      current = [...tokens, ...read.tokens];
      const callers = new Set(current.map(({ caller }) => caller));
      stderr.say(
        'info',
        `http.token_file: the tokens were read again; callers: ${callers.size}, tokens: ${current.length}`,
      );
    },
  };
}
