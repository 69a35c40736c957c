/** The outcome of `promise`, or `aborted` as soon as `signal` aborts. Leaves no listener. Rejects if `promise` does. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) {
    // No one else handles its rejection.
    promise.catch(() => {});
    return 'aborted';
  }
  let onAbort = () => {};
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
