import type { Exchange } from './http-context.ts';

/** The handlers of a path by HTTP method. */
export type Route = Readonly<Record<string, (exchange: Exchange) => Promise<void>>>;
