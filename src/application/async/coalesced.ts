/** A function that runs `task`, which never rejects. However often it is called during a run, there is one more run. */
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
