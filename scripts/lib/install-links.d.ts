/** How a client starts the server. */
export const SERVER: {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};
export function installParts(): Readonly<Record<string, string>>;
