import type { GatewayTool } from './gateway-tool.ts';

interface Nameable {
  /** The name of the item, if it is short enough and no other item has it. */
  readonly text: string;
  /** Identifies the item. Its hash distinguishes equal names. */
  readonly identity: string;
}

/** Whether a name may have a hash at its end, so that only a list says what it names. */
export function mayHaveHash(name: string): boolean {
  return /_[0-9a-f]{8}$/.test(name);
}

interface Rules {
  /** Maximum length of a name, in UTF-16 code units. */
  readonly maxLength: number;
  /** The separator before a hash. */
  readonly separator: string;
  readonly taken: ReadonlySet<string>;
}

const TOOLS: Rules = { maxLength: 64, separator: '_', taken: new Set() };

type ToolName = Pick<GatewayTool, 'server' | 'name'>;

/** The names of tools over MCP, in the order of the tools. A name that could also mean a tool of another configured server has a hash. */
export function exposedNames(tools: readonly ToolName[], servers: readonly string[]): readonly string[] {
  const isOf = (text: string, server: string) => text.startsWith(`${server}__`);
  const items = tools.map(toNameable);
  const ambiguous = items.filter(({ text }) => servers.filter((server) => isOf(text, server)).length > 1);
  return uniqueNames(items, { ...TOOLS, taken: new Set(ambiguous.map(({ text }) => text)) });
}

/** The tools of servers: those that are offered, and those that have changed since they were approved. */
export interface NamedTools {
  readonly tools: readonly GatewayTool[];
  readonly changed: readonly GatewayTool[];
  readonly servers: readonly { readonly name: string }[];
}

/** The tools by their names over MCP. Those that have changed have names, too: names stay the same, and a call says why a tool is not offered. */
export function toolsByName({ tools: offered, changed, servers }: NamedTools): ReadonlyMap<string, GatewayTool> {
  const tools = [...offered, ...changed];
  const names = exposedNames(
    tools,
    servers.map(({ name }) => name),
  );
  return new Map(tools.map((tool, index) => [names[index] ?? '', tool]));
}

/** Like `exposedNames`, with only letters, digits, `_` and `-`, as the API requires for functions, and generators of clients for operations. */
export function functionNames(tools: readonly ToolName[]): readonly string[] {
  const usable = ({ text, identity }: Nameable) => ({ text: text.replace(/[^a-zA-Z0-9_-]/g, '_'), identity });
  return uniqueNames(tools.map(toNameable).map(usable), TOOLS);
}

function toNameable({ server, name }: ToolName): Nameable {
  return { text: `${server}__${name}`, identity: `${server}\n${name}` };
}

/**
 * A name for each item: its text or, if the text is too long or another item has it too, the text with a hash at the end. All items that collide get a
 * hash, so that names do not depend on the order, and are the same in every process.
 */
export function uniqueNames(items: readonly Nameable[], rules: Rules): readonly string[] {
  let names = items.map((item) => (item.text.length > rules.maxLength ? hashed(item, rules) : item.text));
  // A name with a hash may be the text of another item, which then gets its hash too.
  for (;;) {
    const counts = new Map([...rules.taken].map((name) => [name, 1]));
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    const next = items.map((item, index) => {
      const name = names[index] ?? '';
      return counts.get(name) === 1 ? name : hashed(item, rules);
    });
    if (next.every((name, index) => name === names[index])) return next;
    names = next;
  }
}

function hashed({ text, identity }: Nameable, { maxLength, separator }: Rules): string {
  const hash = hashOf(identity);
  const start = text.slice(0, maxLength - separator.length - hash.length);
  // The cut must not leave half of a surrogate pair.
  return `${start.replace(/[\uD800-\uDBFF]$/, '')}${separator}${hash}`;
}

/** 8 hex digits that are the same in every process: FNV-1a, 32 bits, over UTF-16 code units. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
