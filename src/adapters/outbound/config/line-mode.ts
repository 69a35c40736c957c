import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Environment } from './environment.ts';

/** `MCP_LINE_MODE=1`: answer in lines, whatever the client's framing. */
export function isLineMode(value: string | undefined): boolean {
  return /^\s*(?:1|true)\s*$/i.test(value ?? '');
}

export function checkLineMode({ MCP_LINE_MODE }: Environment): readonly ConfigProblem[] {
  const value = MCP_LINE_MODE?.trim() ?? '';
  const isKnown = /^(?:|0|1|true|false)$/i.test(value);
  return isKnown ? [] : [{ where: 'MCP_LINE_MODE', value, accepted: '1 or 0' }];
}
