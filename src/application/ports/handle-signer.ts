/** Signs what a handle names, so that only its owner can use it. */
export interface HandleSigner {
  /** 22 characters of `[A-Za-z0-9_-]`; the same for the same parts in every process with the same API key. */
  sign(parts: readonly string[]): string;

  /** Takes the same time for every signature. */
  verify(parts: readonly string[], signature: string): boolean;
}
