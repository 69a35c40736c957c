/** Signs the content of a handle, so that only its owner can use the handle. */
export interface HandleSigner {
  /** Returns 22 characters of `[A-Za-z0-9_-]`. Every process with the same API key returns the same signature for the same parts. */
  sign(parts: readonly string[]): string;

  /** Whether a signature is valid. Takes the same time for every signature. */
  verify(parts: readonly string[], signature: string): boolean;
}
