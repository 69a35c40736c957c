import { cleanLine } from '../../../domain/values/clean-text.ts';
import { type DoctorCheck, type Finding, ok } from './doctor.ts';

/** A value of a server that is in a file or printed by a command. */
export interface CheckedValue {
  /** Such as `command op`. */
  readonly place: string;
  readonly servers: readonly string[];
  /** Why it cannot be read; undefined if it can. */
  readonly read: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Reads each value once, and names its source. */
export function checkValues(values: readonly CheckedValue[]): DoctorCheck {
  async function* run(signal: AbortSignal): AsyncGenerator<Finding> {
    for (const { place, servers, read } of values) {
      const name = `value of ${servers.join(', ')}`;
      const problem = await read(signal);
      yield {
        name,
        ...(problem === undefined ? ok(`found (${place})`) : { verdict: 'failed', detail: cleanLine(problem) }),
      };
    }
  }
  return { name: 'values', run };
}
