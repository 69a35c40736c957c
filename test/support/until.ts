/** Resolves as soon as the condition is met, without waiting for a time. The time limit of the test ends it otherwise. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
}
