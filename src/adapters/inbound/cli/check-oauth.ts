import type { Result } from 'neverthrow';
import type { Check } from '../../../application/diagnose-setup.ts';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { clip } from '../../../domain/clip.ts';
import { messageForProblem } from '../words/config-problems.ts';

/** The authorization server, as the doctor checks it; or why the section `http.oauth` cannot be used. */
export interface CheckedOAuth {
  readonly issuer: string;
  readonly audience: string;
  /** Reads the published keys; the number of them, or why they cannot be read. */
  readonly countKeys: (signal: AbortSignal) => Promise<Result<number, string>>;
}

const name = 'oauth';
/** A reason may contain text of the issuer. */
const MAX_REASON = 500;

/** Whether the keys that verify access tokens can be read. */
export async function checkOAuth(oauth: CheckedOAuth | readonly ConfigProblem[], signal: AbortSignal): Promise<Check> {
  if (!('issuer' in oauth)) return { name, verdict: 'failed', detail: oauth.map(messageForProblem).join('; ') };
  const { issuer, audience, countKeys } = oauth;
  const counted = await countKeys(signal);
  if (counted.isErr()) {
    const reason = clip(counted.error, MAX_REASON);
    const detail = `the keys of ${issuer} cannot be read, so access tokens are refused (${reason}). Check http.oauth.issuer, and whether this machine can reach it`;
    return { name, verdict: 'failed', detail };
  }
  const keys = counted.value === 1 ? '1 key' : `${counted.value} keys`;
  return {
    name,
    verdict: counted.value === 0 ? 'failed' : 'ok',
    detail: `${issuer} publishes ${keys}; tokens must be for ${audience}`,
  };
}
