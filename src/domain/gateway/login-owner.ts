import { isObject } from '../values/json.ts';
import type { Kind } from '../values/kind.ts';
import { type CallOrigin, LOCAL_CALLER, type Subject, TOKEN_CALLER } from './call-origin.ts';

/**
 * The caller to whom a login belongs: the user of this machine, the owner of a configured token, or the subject of an access token. Never a claim that
 * only names a person, because such a name can change hands.
 */
export type LoginOwner = Kind<'local'> | Kind<'token', { name: string }> | Kind<'subject', Subject>;

/** Whose login is used: that of one caller, or one for all callers of a server. */
export type LoginUse = LoginOwner | 'shared';

/** A server, and whose login is used for it. What is kept for one key must not reach a caller with another key. */
export interface ServerKey {
  readonly server: string;
  readonly use: LoginUse;
}

export const LOCAL_OWNER: LoginOwner = { kind: 'local' };

/** The owner of a caller's logins. Undefined if an access token names no subject, so that the caller can have none. */
export function ownerOf({ caller, subject }: Pick<CallOrigin, 'caller' | 'subject'>): LoginOwner | undefined {
  if (subject !== undefined) return { kind: 'subject', ...subject };
  if (caller === LOCAL_CALLER) return LOCAL_OWNER;
  return TOKEN_CALLER.test(caller) ? { kind: 'token', name: caller } : undefined;
}

/** A text that is different for each owner, and another one than for shared logins. */
export function idOfUse(use: LoginUse): string {
  if (use === 'shared') return use;
  return JSON.stringify(use.kind === 'subject' ? [use.kind, use.issuer, use.sub] : Object.values(use));
}

/** How people read whose login it is: as callers are named elsewhere, but with the subject of an access token. */
export function ownerName(owner: LoginOwner): string {
  if (owner.kind === 'local') return LOCAL_CALLER;
  return owner.kind === 'token' ? owner.name : `oauth:${owner.sub}`;
}

/** Reads an owner from JSON; undefined if the value is none. */
export function parseOwner(value: unknown): LoginOwner | undefined {
  const { kind, name, issuer, sub } = isObject(value) ? value : {};
  if (kind === 'local') return LOCAL_OWNER;
  if (kind === 'token' && typeof name === 'string') return { kind, name };
  if (kind === 'subject' && typeof issuer === 'string' && typeof sub === 'string') return { kind, issuer, sub };
  return undefined;
}
