/** All that the core uses of its host: tsconfig.core.json compiles it with this file instead of Node's types. */
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

/** The URL standard: a pure function in every host. */
declare class URL {
  static canParse(url: string, base?: string): boolean;
  readonly href: string;
  readonly host: string;
  readonly username: string;
  readonly password: string;
  constructor(url: string, base?: string);
}

declare class TextEncoder {
  encode(text: string): Uint8Array;
}
