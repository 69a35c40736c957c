/** Aborts `controller` with `signal`. Returns the removal of the listener. (`AbortSignal.any` leaks on Node 20.) */
export function forwardAbort(signal: AbortSignal, controller: AbortController): () => void {
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}
