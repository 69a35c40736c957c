import { keyProblem } from '../../../domain/values/redaction.ts';
import { type DoctorCheck, type Finding, NOT_ASKED, ok } from './doctor.ts';
import type { CheckedKey } from './doctor-checks.ts';

/** A server that is not started. */
export interface ConfiguredServer {
  readonly name: string;
  /** The host of a remote server. */
  readonly host?: string | undefined;
  /** The key with a variable that is not set here, so that it is not known where the server is. */
  readonly unset?: string | undefined;
  /** The key whose value is in a file or printed by a command. */
  readonly later?: string | undefined;
  /** Why its command would not start. */
  readonly problem?: string | undefined;
  readonly command?: string | undefined;
}

/** Checks each server without starting it. */
export function checkConfigured(servers: readonly ConfiguredServer[]): DoctorCheck {
  return {
    name: 'servers',
    run: () => servers.map((server) => ({ ...stateOf(server), name: `server ${server.name}` })),
  };
}

function stateOf({ host, command, problem, unset, later }: ConfiguredServer): Finding {
  if (unset !== undefined) return { verdict: 'skipped', detail: `its ${unset} has a variable that is not set here` };
  if (later !== undefined) return { verdict: 'skipped', detail: `its ${later} is read when it starts (--offline)` };
  if (host !== undefined) return { verdict: 'skipped', detail: `${host} was ${NOT_ASKED}` };
  if (problem !== undefined) return { verdict: 'failed', detail: problem };
  return ok(`${command} exists; it was not started (--offline)`);
}

/** Checks the form of the key, and asks no one about it. A key that is not set is a note. */
export function checkKey({ variable, value, command }: CheckedKey): DoctorCheck {
  const kind = keyProblem(value);
  const run = (): Finding => {
    if (command !== undefined && value === undefined)
      return { verdict: 'skipped', detail: `the command ${command} was not run (--offline)` };
    if (kind === 'no_api_key')
      return { verdict: 'note', detail: `${variable} is not set here; this check needs no key` };
    return kind === undefined
      ? ok(`found in ${variable}`)
      : { verdict: 'failed', detail: variable, error: { kind, variable } };
  };
  return { name: 'key', run };
}

export const API_NOT_ASKED: DoctorCheck = { name: 'api', run: () => ({ verdict: 'skipped', detail: NOT_ASKED }) };
