/** The time between two requests for a list, while a server starts and at other times. */
const STARTING_MS = 1000;
const USUAL_MS = 5000;

interface Loading {
  readonly load: () => Promise<void>;
  /** Called after each attempt. */
  readonly onLoaded: (error: unknown) => void;
  /** Whether something will change soon. */
  readonly isStarting: () => boolean;
}

/** Loads now, and again every few seconds while the page is visible. Returns a function that loads at once. */
export function keepLoading({ load, onLoaded, isStarting }: Loading): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLoading = false;
  let isStale = false;
  const run = async () => {
    clearTimeout(timer);
    isStale = isLoading;
    if (isLoading) return;
    isLoading = true;
    const error = await load().then(
      () => undefined,
      (error: unknown) => error,
    );
    isLoading = false;
    if (!document.hidden) timer = setTimeout(run, isStale ? 0 : isStarting() ? STARTING_MS : USUAL_MS);
    onLoaded(error);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : void run()));
  void run();
  return () => void run();
}
