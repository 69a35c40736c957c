import type { Rights } from '../../../domain/gateway/call-origin.ts';
import type { JsonObject } from '../../../domain/values/json.ts';

/** Maximum size of a page in characters, unless it has one entry. Many clients read only the first page of a list. */
const PAGE_SIZE = 1_000_000;

/** Caching hints (MCP 2026-07-28) for a result. A `fixed` one does not change while the process runs; a personal one is for one caller. */
export function cachingFor(rights: Rights, content: 'fixed' | 'changing', isPersonal = false): JsonObject {
  const isPublic = rights.isForEveryone && !isPersonal;
  return { ttlMs: content === 'fixed' ? 3_600_000 : 5000, cacheScope: isPublic ? 'public' : 'private' };
}

/** A page of the list, with its entries in `member`. The cursor is the index of its first entry. Undefined for a cursor that was never sent. */
export function pageOf(member: string, entries: readonly JsonObject[], cursor: unknown): JsonObject | undefined {
  const starts = startsOfPages(entries);
  const page = cursor == null ? 0 : starts.findIndex((start) => start > 0 && cursor === String(start));
  if (page < 0) return undefined;
  const next = starts[page + 1];
  return { [member]: entries.slice(starts[page], next), ...(next !== undefined && { nextCursor: String(next) }) };
}

function startsOfPages(entries: readonly JsonObject[]): readonly number[] {
  const starts = [0];
  let size = 0;
  for (const [index, entry] of entries.entries()) {
    const { length } = JSON.stringify(entry);
    if (size > 0 && size + length > PAGE_SIZE) {
      starts.push(index);
      size = 0;
    }
    size += length;
  }
  return starts;
}

/** The lists that a client has, so that it is notified of a change only once until it lists again. */
export class SentLists<Name extends string> {
  readonly #sent = new Map<Name, { readonly json: string; readonly rights: Rights }>();

  keep(name: Name, list: unknown, rights: Rights): void {
    this.#sent.set(name, { json: JSON.stringify(list), rights });
  }

  forget(name: Name): void {
    this.#sent.delete(name);
  }

  /** Forgets the lists that are not equal to the current ones, and returns their names. */
  takeOutdated(current: (name: Name, rights: Rights) => unknown): readonly Name[] {
    const outdated = [...this.#sent].filter(
      ([name, { json, rights }]) => JSON.stringify(current(name, rights)) !== json,
    );
    for (const [name] of outdated) this.#sent.delete(name);
    return outdated.map(([name]) => name);
  }
}
