import { setTimeout as wait } from 'node:timers/promises';

/** Resolves soon after the condition is met. The time limit of the test ends it otherwise. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await wait(5);
}
