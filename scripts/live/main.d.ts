export function live(args: readonly string[], terminal: object): Promise<number>;
