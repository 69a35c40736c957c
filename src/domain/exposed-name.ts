const MAX_LENGTH = 64;

/** The name of a server's tool among those of other servers, of at most 64 characters; the same in every process (ruling G23). */
export function exposedName(server: string, tool: string): string {
  const name = `${server}__${tool}`;
  return name.length <= MAX_LENGTH ? name : hashedName(server, tool);
}

/** The same with a hash at the end, for a name that is too long or taken. */
export function hashedName(server: string, tool: string): string {
  const hash = hashOf(server, tool);
  const start = `${server}__${tool}`.slice(0, MAX_LENGTH - hash.length - 1);
  // The first half of a character that was cut is not one.
  return `${start.replace(/[\uD800-\uDBFF]$/, '')}_${hash}`;
}

/** 8 hex digits that are the same in every process: FNV-1a, 32 bits, over UTF-16 code units. */
export function hashOf(server: string, tool: string): string {
  const text = `${server}\n${tool}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
