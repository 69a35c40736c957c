/** A function that runs `task`, which never rejects. Calls during a run lead to one further run, however many there are. */
export function coalesced(task: () => Promise<void>): () => void {
  let isRunning = false;
  let isNeeded = false;
  const run = async () => {
    isRunning = true;
    while (isNeeded) {
      isNeeded = false;
      await task();
    }
    isRunning = false;
  };
  return () => {
    isNeeded = true;
    if (!isRunning) void run();
  };
}

/** A value that is created when it is first needed. */
interface Needed<T> {
  /** Rejects if the value cannot be created. The next use tries again. */
  readonly get: () => Promise<T>;
  /** Closes the value, also if it is still being created. */
  readonly close: () => Promise<void>;
}

/** Creates a value once, when it is first needed. */
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
