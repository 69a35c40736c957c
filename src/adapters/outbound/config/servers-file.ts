import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { uniqueNames } from '../../../domain/gateway/unique-names.ts';
import { isObject } from '../../../domain/values/json.ts';
import { homeFolder } from '../files/local-files.ts';
import { Notices, type TranslatedEntry, Translation } from './client-entry.ts';
import { clientOf, otherProjects, projectOf, readContent, type Section } from './client-file.ts';
import { isSwitchedOff } from './client-keys.ts';
import type { Client } from './clients.ts';
import { runsThisProgram } from './own-command.ts';
import type { Report } from './problems.ts';
import { type ExpandContext, folderWords, type References } from './references.ts';
import { SERVER_NAME } from './server-keys.ts';

/** An entry in the form of the YAML file. */
export interface FileEntry extends TranslatedEntry {
  readonly where: string;
  /** The name in the file, if it cannot be the name of a server. */
  readonly renamedFrom?: string;
  /** The folder at which relative paths start. */
  readonly folder: string;
  readonly references: References;
}

/** A file of another client, as it was understood. */
export interface ReadFile {
  readonly file: string;
  readonly client: string;
  /** The folder in which its servers start. */
  readonly folder: string;
  readonly servers: readonly string[];
}

interface ServersFile {
  readonly entries: readonly FileEntry[];
  readonly notices: readonly ConfigProblem[];
  /** Undefined if it cannot be read. */
  readonly read?: ReadFile;
}

type Context = Omit<ExpandContext, 'references'>;

/** Reads the servers in a file of another MCP client. Those that are switched off, or that run this program, are left out, with a notice. */
export async function readServersFile(file: string, context: Context, report: Report): Promise<ServersFile> {
  const content = await readContent(file, report);
  if (content === undefined) return { entries: [], notices: [] };
  const { client, sections } = clientOf(file, content.value);
  const folder = projectOf(file);
  const notices = new Notices(file);
  const others = otherProjects(content.value, sections);
  if (others.length > 0) notices.add('projects', `${OF_PROJECTS}: ${others.join(', ')}`, []);
  if (sections.length === 0) {
    report(file, withoutServers(client, content.value, others));
    return { entries: [], notices: [] };
  }
  for (const { path, lines } of content.twice) {
    const section = sections.find((one) => one.path.every((name, index) => name === path[index]));
    if (section === undefined || path.length > section.path.length + 1) continue;
    notices.add(path.join('.'), `it is twice in this file (lines ${lines.join(' and ')}); the last one counts`, []);
  }
  const entries = entriesOf(client, { sections, content: content.value, folder, notices });
  const names = usableNames(entries.map(({ name }) => name));
  const home = homeFolder() ?? '';
  const documents = (key: string) => client.keys.some((one) => one === key);
  const translated = entries.map(({ name, value, where, section }, index): FileEntry => {
    const project = section.project ?? folder;
    const words = folderWords({ project, ofFile: pluginFolder(file), home });
    const { references: form = 'dollar', hasCommands, secondsUpTo = 999 } = client;
    const references: References = { form, words, folder: dirname(file), hasCommands };
    const usable = names[index] ?? name;
    const renamed = usable === name ? {} : { renamedFrom: name };
    const common = { where, ...renamed, folder: project, references };
    if (!isObject(value)) return { ...common, value, literal: new Set(), sources: new Map(), found: [] };
    const given = Object.fromEntries((client.variables ?? []).map((variable) => [variable, words[variable]]));
    const translation = new Translation(
      { file, where, name: usable, written: name, entry: value, project, notices, documents, secondsUpTo },
      { ...context, references },
    );
    return { ...common, ...translation.read(given) };
  });
  const read = { file, client: client.title, folder, servers: names };
  return { entries: translated, notices: notices.list(), read };
}

/** Why a file has no servers. */
function withoutServers({ servers: [place = []] }: Client, content: unknown, others: readonly string[]): string {
  const named = isObject(content) ? [content.mcpServers].flat().filter((one) => typeof one === 'string') : [];
  if (named.length > 0)
    return `its servers are in other files; use ${named.map((path) => `--servers ${path}`).join(' ')}`;
  const isCommon = place.length === 0 || String(place) === 'mcpServers';
  const expected = isCommon ? NO_SERVERS : `expected an object ${place.join('.')} with servers`;
  return others.length > 0 ? `${expected}; ${OF_PROJECTS}: ${others.join(', ')}` : expected;
}

const NO_SERVERS = 'expected an object mcpServers (or servers, as VS Code writes it)';
const OF_PROJECTS = 'the servers of other projects are not read; start this program in the folder of the project';
const OWN = 'it runs this program, which cannot be a server of itself; this server is left out';

/** The folder of a plugin is that of its `.mcp.json`, or the one above `.claude-plugin`. */
function pluginFolder(file: string): string {
  const folder = dirname(file);
  return /[\\/]\.claude-plugin$/.test(folder) ? dirname(folder) : folder;
}

interface Entry {
  readonly name: string;
  readonly value: unknown;
  readonly where: string;
  readonly section: Section;
}

interface Entries {
  readonly sections: readonly Section[];
  readonly content: unknown;
  readonly folder: string;
  readonly notices: Notices;
}

/** The entries that are used, in the order of the file. */
function entriesOf({ lists }: Client, { sections, content, folder, notices }: Entries): readonly Entry[] {
  const all = sections.flatMap((section) =>
    Object.entries(section.servers).map(([name, value]) => ({
      name,
      value,
      section,
      where: [...section.path, name].join('.'),
    })),
  );
  const last = new Map(all.map((entry) => [entry.name, entry]));
  for (const { name, where } of all.filter((entry) => last.get(entry.name) !== entry))
    notices.add(where, `it is also ${last.get(name)?.where}, which counts`, [name]);
  const listed = (path: readonly string[] = []) => {
    const names = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), content);
    return Array.isArray(names) && names.length > 0 ? names : undefined;
  };
  const excluded = lists && listed(lists.excluded);
  const allowed = lists && listed(lists.allowed);
  const isOff = ({ name, value }: Entry) =>
    (isObject(value) && isSwitchedOff(value)) || excluded?.includes(name) === true || allowed?.includes(name) === false;
  const off = [...last.values()].filter(isOff);
  const names = off.map(({ name }) => name);
  if (off[0] !== undefined)
    notices.add(
      off[0].section.path.join('.') || 'servers',
      `switched off in this file, and left out: ${names.join(', ')}`,
      names,
    );
  return [...last.values()].filter((entry) => {
    if (off.includes(entry)) return false;
    const isOwn = isObject(entry.value) && runsThisProgram(entry.value, entry.section.project ?? folder);
    if (isOwn) notices.add(entry.where, OWN, [entry.name]);
    return !isOwn;
  });
}

/** Changes names that cannot be names of servers: `my server` becomes `my-server`. The result does not depend on the order. */
function usableNames(names: readonly string[]): readonly string[] {
  const isUsable = (name: string) => SERVER_NAME.fromText(name) === name;
  const taken = new Set([...names.filter(isUsable), BUILT_IN_SERVER]);
  const changed = names.filter((name) => !isUsable(name));
  const items = changed.map((name) => {
    const text = name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'server';
    return { text, identity: name };
  });
  const usable = uniqueNames(items, { maxLength: 32, separator: '-', taken });
  return names.map((name) => usable[changed.indexOf(name)] ?? name);
}
