import { type CallOrigin, EVERYTHING, LOCAL_CALLER } from '../../src/domain/gateway/call-origin.ts';

/** The user of this machine. */
export const LOCAL: CallOrigin = { caller: LOCAL_CALLER, door: 'stdio', rights: EVERYTHING };

/** A caller over HTTP. */
export function callerOf(caller: string, more: Partial<CallOrigin> = {}): CallOrigin {
  return { caller, door: 'mcp', rights: EVERYTHING, ...more };
}
