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
