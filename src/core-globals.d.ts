/**
 * All that the core (domain, application) may know of its host: cancellation. tsconfig.core.json compiles the core
 * against this file instead of Node's types, so that `process`, `fetch`, timers and `Buffer` do not compile there.
 */
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
