/**
 * Controllers that are used again unless they were aborted: on Node.js 20, creating a signal takes as long as everything else that this
 * program does for a short call. What has a signal must leave no listener on it, and must not use it after it has ended.
 */
export class AbortControllers {
  readonly #unused: AbortController[] = [];

  take(): AbortController {
    return this.#unused.pop() ?? new AbortController();
  }

  giveBack(controller: AbortController): void {
    if (!controller.signal.aborted) this.#unused.push(controller);
  }
}
