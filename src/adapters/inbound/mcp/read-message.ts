import { checkEnvelope, checkVersion, type Era, eraOf, requestedVersion } from './era.ts';
import { errorMessage, type IncomingMessage, type OutgoingMessage, toMessage } from './json-rpc.ts';

/** A message for the session, or the error with which to respond. */
type ReadMessage = { readonly message: IncomingMessage; readonly era: Era } | { readonly rejection: OutgoingMessage };

/** Reads a JSON value as a message of a transport without headers. A modern request must meet the requirements of its era. */
export function readMessage(value: unknown): ReadMessage {
  const message = toMessage(value);
  if (message.kind === 'invalid') return { rejection: errorMessage(message.id, message.error) };
  const params = 'params' in message ? message.params : undefined;
  const era = eraOf(params);
  if (era === 'legacy' || message.kind !== 'request') return { message, era };
  const error = checkEnvelope(params) ?? checkVersion(requestedVersion(params));
  return error === undefined ? { message, era } : { rejection: errorMessage(message.id, error) };
}
