import { advised, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { count } from './plain.ts';

export const approvedMessage = (tools: number, file: string) => `Approved ${count(tools, 'tool')} in ${file}.\n`;

/** For `tools --lock`, which keeps the approved tools of a server that is not available, and for `tools --diff`. */
export const notComparedMessage = (server: string, reason = 'no reason is known') =>
  `The server ${server} is not available (${cleanLine(reason)}). Its approved tools were neither compared nor changed.\n`;

/** The message about tools of one server that `gateway.lock` withholds. */
export function notApprovedMessage(names: readonly string[], ownCommand?: OwnCommand): string {
  const tools = `${count(names.length, 'tool')} ${names.length === 1 ? 'is' : 'are'} not approved`;
  return `${tools}: ${names.map(cleanLine).join(', ')} (see: ${advised('tools --diff', ownCommand)})`;
}
