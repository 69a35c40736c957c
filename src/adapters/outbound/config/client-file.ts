import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Node } from 'jsonc-parser';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { attempted, homeFolder, readText } from '../files/local-files.ts';
import { CLIENTS, type Client } from './clients.ts';
import type { Report } from './problems.ts';

/** A name that is in a map twice, with its lines. */
interface Twice {
  readonly path: readonly (string | number)[];
  readonly lines: readonly [number, number];
}

interface Content {
  readonly value: unknown;
  readonly twice: readonly Twice[];
}

/** The content of a file in JSON, with comments and trailing commas, or in TOML by its ending; undefined after a report. */
export async function readContent(file: string, report: Report): Promise<Content | undefined> {
  const isToml = /\.toml$/i.test(file);
  const content = readText(file);
  if ('reason' in content)
    return void report(
      file,
      `expected a ${isToml ? 'TOML' : 'JSON'} file with servers that can be read (${content.reason})`,
    );
  return isToml ? readToml(content.text, file, report) : readJson(content.text, file, report);
}

async function readToml(text: string, file: string, report: Report): Promise<Content | undefined> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return { value: parse(text, { integersAsBigInt: 'asNeeded' }), twice: [] };
  } catch (error) {
    const line = error instanceof TomlError ? ` in line ${error.line}` : '';
    const [reason = ''] = String((error as Error).message).split('\n');
    return void report(file, `expected TOML (${reason.replace(/^Invalid TOML document: /, '')}${line})`);
  }
}

async function readJson(text: string, file: string, report: Report): Promise<Content | undefined> {
  const { parseTree, getNodeValue, printParseErrorCode } = await import('jsonc-parser');
  const errors: { error: number; offset: number; length: number }[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  if (first !== undefined || tree === undefined) {
    if (/\.ya?ml$/i.test(file)) return void report(file, IN_YAML);
    const { error = 0, offset = 0 } = first ?? {};
    return void report(file, `expected JSON (${printParseErrorCode(error)} in line ${lineAt(offset)})`);
  }
  return { value: getNodeValue(tree), twice: repeated(tree, [], lineAt) };
}

const IN_YAML =
  'expected JSON or TOML: files in YAML, as those of Goose and Continue, are not read; write their servers as a list under servers, into the YAML file of --config';

function repeated(node: Node, path: Twice['path'], lineAt: (offset: number) => number): readonly Twice[] {
  const children = node.children ?? [];
  if (node.type === 'array') return children.flatMap((child, index) => repeated(child, [...path, index], lineAt));
  const seen = new Map<string, number>();
  return children.flatMap(({ children: [key, value] = [], offset }) => {
    const name = String(key?.value);
    const before = seen.get(name);
    seen.set(name, offset);
    const below = value === undefined ? [] : repeated(value, [...path, name], lineAt);
    return before === undefined
      ? below
      : [{ path: [...path, name], lines: [lineAt(before), lineAt(offset)] }, ...below];
  });
}

/** The servers at one place of a file. */
export interface Section {
  /** The path of the place, such as `mcpServers`; '' at the top level. */
  readonly path: readonly string[];
  readonly servers: JsonObject;
  /** The project of these servers, if the file names it. */
  readonly project?: string;
}

/** Which client a file is of, and its servers. No section: it has no place for servers. */
export function clientOf(file: string, content: unknown): Found {
  const named = clientsOfPath(file);
  const candidates = named.length > 0 ? named : CLIENTS;
  const found = candidates.map((client) => ({ client, sections: sectionsOf(client, content) }));
  const having = found.filter(({ sections }) => sections.length > 0);
  const [best] = having.toSorted(
    (one, other) => Number(isAtHome(other)) - Number(isAtHome(one)) || sharedKeys(other) - sharedKeys(one),
  );
  if (best !== undefined) return best;
  const [client = CLIENTS[0] as Client] = candidates;
  // A place of another client in the file of this one.
  const others = CLIENTS.flatMap((other) => (other.servers[0]?.length === 0 ? [] : sectionsOf(other, content)));
  return {
    client,
    sections: others.filter(({ path }, index) => others.findIndex((one) => one.path.join() === path.join()) === index),
  };
}

interface Found {
  readonly client: Client;
  readonly sections: readonly Section[];
}

/** Whether servers are where this client has them, rather than where only others do. */
function isAtHome({ client, sections }: Found): boolean {
  const own = client.servers.map(String);
  return sections.some(({ path }) => own.includes(String(path)));
}

/** How many of the keys in the servers the client documents. */
function sharedKeys({ client, sections }: Found): number {
  const entries = sections.flatMap(({ servers }) => Object.values(servers)).filter(isObject);
  const used = new Set(entries.flatMap((entry) => Object.keys(entry)));
  return client.keys.filter((key) => used.has(key)).length;
}

/** The clients with the longest end of a path in common with a file, or with its folder. */
function clientsOfPath(file: string): readonly Client[] {
  const path = posix(file);
  const ends = (client: Client) => [...client.files, ...(client.userFiles ?? [])];
  const lengthOf = (client: Client) =>
    Math.max(0, ...ends(client).map((end) => (`/${path}`.endsWith(`/${end}`) ? end.length : 0)));
  const longest = Math.max(...CLIENTS.map(lengthOf));
  if (longest > 0) return CLIENTS.filter((client) => lengthOf(client) === longest);
  const folder = basename(dirname(file));
  return CLIENTS.filter(({ files }) => files.some((end) => folder.startsWith('.') && end.startsWith(`${folder}/`)));
}

/** The places that several clients have in common. Where one name is in both, `servers` counts. */
const COMMON = [['mcpServers'], ['servers']];

function sectionsOf(client: Client, content: unknown): readonly Section[] {
  if (client.servers[0]?.length === 0) {
    const servers = serversAtTop(content);
    return servers === undefined ? [] : [{ path: [], servers }];
  }
  const own = client.servers.map(String);
  const common = COMMON.filter((path) => !own.includes(String(path)));
  const places = own.includes('servers') ? [...common, ...client.servers] : [...client.servers, ...common];
  const sections = places.flatMap((path): readonly Section[] => {
    const servers = at(content, path) ?? at(content, [path.join('.')]);
    if (!isObject(servers)) return [];
    // `mcp` may have settings alone, and `mcp.servers` may be a server.
    const isOther =
      path[0] === 'mcp' && (isServer(servers) || !(Object.values(servers).some(isObject) || isEmpty(servers)));
    return isOther ? [] : [{ path, servers }];
  });
  const isNested = sections.some(({ path }) => path.length > 1);
  return [...sections.map((section) => (isNested ? withoutSettings(section) : section)), ...projectSections(content)];
}

const isEmpty = (map: JsonObject) => Object.keys(map).length === 0;

const isServer = (value: unknown) =>
  isObject(value) &&
  ['command', 'url', 'type'].some((key) => typeof value[key] === 'string' || Array.isArray(value[key]));

/** `mcp` without its settings and `servers`, if it has both servers and `servers`. */
function withoutSettings({ path, servers }: Section): Section {
  const own = Object.entries(servers).filter(([, value]) => path.length > 1 || path[0] !== 'mcp' || isServer(value));
  return { path, servers: Object.fromEntries(own) };
}

function at(content: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    content,
  );
}

/** The members of a file without any other level, as of a plugin. A text or a number shows that it is a file of another kind. */
function serversAtTop(content: unknown): JsonObject | undefined {
  if (!isObject(content)) return undefined;
  const members = Object.entries(content).filter(([name]) => !name.startsWith('$'));
  const isPlace = ([name, value]: [string, unknown]) => COMMON.flat().includes(name) && !isServer(value);
  const isOther = members.some((member) => typeof (member[1] ?? {}) !== 'object' || isPlace(member));
  return isOther || !members.some(([, value]) => isServer(value)) ? undefined : Object.fromEntries(members);
}

/** The servers of the project in which this program was started, as in `~/.claude.json`. */
function projectSections(content: unknown): readonly Section[] {
  const projects = at(content, ['projects']);
  if (!isObject(projects)) return [];
  const folders = Object.keys(projects).filter((folder) => isObject(at(projects, [folder, 'mcpServers'])));
  const project = ancestors(process.cwd())
    .map((folder) => folders.find((one) => realPath(one) === folder))
    .find((one) => one !== undefined);
  if (project === undefined) return [];
  const servers = at(projects, [project, 'mcpServers']) as JsonObject;
  return [{ path: ['projects', project, 'mcpServers'], servers, project }];
}

/** The other projects with servers in a file such as `~/.claude.json`. */
export function otherProjects(content: unknown, sections: readonly Section[]): readonly string[] {
  const projects = at(content, ['projects']);
  if (!isObject(projects)) return [];
  const read = sections.map(({ project }) => project);
  return Object.keys(projects).filter((folder) => {
    const servers = at(projects, [folder, 'mcpServers']);
    return !read.includes(folder) && isObject(servers) && Object.keys(servers).length > 0;
  });
}

function ancestors(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}

function realPath(path: string): string {
  return attempted(() => realpathSync(path)) ?? resolve(path);
}

/** The names of files that a project has at its top. */
const AT_TOP = new Set(CLIENTS.flatMap(({ files }) => files.filter((end) => !end.includes('/'))));

/**
 * The folder of the project to which a file belongs: the one above `.vscode` and the like, also above `.kiro/settings`, or else that of the file.
 * Servers of a person's file start where this program was started.
 */
export function projectOf(file: string): string {
  const path = resolve(file);
  const folders = ancestors(dirname(path)).slice(0, AT_TOP.has(basename(path)) ? 1 : 2);
  const repository = folders.findIndex((folder) => existsSync(join(folder, '.git')));
  const ofClient = folders.findIndex((folder) => basename(folder).startsWith('.'));
  const isOfClient = ofClient >= 0 && (repository < 0 || ofClient < repository);
  const project = isOfClient ? dirname(folders[ofClient] ?? '') : dirname(path);
  const home = homeFolder();
  if (home === undefined) return project;
  const inHome = posix(relative(home, path));
  const isUserFile = CLIENTS.some(({ userFiles = [] }) => userFiles.some((end) => `/${inHome}`.endsWith(`/${end}`)));
  const isInHome = !inHome.startsWith('../') && !/^[A-Za-z]:/.test(inHome);
  return project === resolve(home) || (isInHome && isUserFile) ? process.cwd() : project;
}

/** The files in a folder of a project that other clients have for servers alone. */
export function filesOfClientsIn(folder: string): readonly string[] {
  const files = new Set(CLIENTS.flatMap(({ files }) => files.filter((end) => /^\..*mcp\.json$/.test(end))));
  return [...files].filter((file) => existsSync(join(folder, file)));
}

function posix(path: string): string {
  return sep === '\\' ? path.replaceAll('\\', '/') : path;
}
