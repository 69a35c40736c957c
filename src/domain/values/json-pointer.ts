import { decoded } from './web-url.ts';

/** The part of a document to which a reference within it (`#/a/b`) points; undefined for any other reference. */
export function targetOf(ref: string, root: unknown): unknown {
  if (!ref.startsWith('#')) return undefined;
  return namesIn(decoded(ref) ?? ref).reduce<unknown>(memberOf, root);
}

/** The names of members in a JSON pointer (RFC 6901). */
export function namesIn(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The name of a member as a JSON pointer has it. */
export function toPointerName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The member of an object or a list; undefined if there is none. */
export function memberOf(owner: unknown, name: string): unknown {
  if (typeof owner !== 'object' || owner === null || !Object.hasOwn(owner, name)) return undefined;
  return (owner as Readonly<Record<string, unknown>>)[name];
}
