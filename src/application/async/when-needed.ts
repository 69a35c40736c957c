/** What is made when it is first needed. */
export interface Needed<T> {
  /** If it cannot be made, this fails for those who wait, and the next use tries again. */
  readonly get: () => Promise<T>;
  /** Ends what was made, or is being made. */
  readonly close: () => Promise<void>;
}

/** Makes something when it is first needed, once. */
export function whenNeeded<T extends object & { readonly close?: () => Promise<void> }>(
  make: () => Promise<T>,
): Needed<T> {
  let making: Promise<T> | undefined;
  return {
    get: () => {
      making ??= make().catch((error: unknown) => {
        making = undefined;
        throw error;
      });
      return making;
    },
    close: async () => {
      const made = await making?.catch(() => undefined);
      await made?.close?.();
    },
  };
}
