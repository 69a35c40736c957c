import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { readText } from '../files/local-files.ts';
import { CLIENT_KEYS, ruleOf } from './client-keys.ts';
import type { KeyContext } from './key-context.ts';
import { meantKey, SERVER_WORDS } from './member-words.ts';
import { type Report, reporter, toText } from './problems.ts';
import { type ExpandContext, expandReferences, notChecked } from './references.ts';
import { SERVER_TABLE } from './server-keys.ts';

/** An entry of another client in the form of the YAML file. */
export interface TranslatedEntry {
  readonly value: unknown;
  /** The words of a command that prints further headers. */
  readonly headersHelper?: readonly string[];
  /** The paths of texts whose references were already replaced. */
  readonly literal: ReadonlySet<string>;
  /** The key in the file for a key in YAML, if it is another. */
  readonly sources: ReadonlyMap<string, string>;
  /** What is wrong in the form of the client. */
  readonly found: readonly ConfigProblem[];
  /** The files of variables that it names. */
  readonly files?: readonly string[];
}

/** Notices of a file. One about a key names every server that has it. */
export class Notices {
  readonly #file: string;
  readonly #found: ConfigProblem[] = [];
  readonly #keys = new Map<string, { readonly where: string; readonly message: string; readonly servers: string[] }>();

  constructor(file: string) {
    this.#file = file;
  }

  add(where: string, message: string, servers: readonly string[]): void {
    this.#found.push({ where, message, servers, file: this.#file });
  }

  /** `where`: the place of the key in the server. */
  addKey(key: string, where: string, message: string, server: string): void {
    const before = this.#keys.get(`${key} ${message}`);
    if (before === undefined) this.#keys.set(`${key} ${message}`, { where, message, servers: [server] });
    else before.servers.push(server);
  }

  list(): readonly ConfigProblem[] {
    const ofKeys = [...this.#keys.values()].map(({ where, message, servers: [first = '', ...others] }) => {
      const also = others.length === 0 ? '' : ` (also in ${others.join(', ')})`;
      return { where, message: `${message}${also}`, file: this.#file, servers: [first, ...others] };
    });
    return [...this.#found, ...ofKeys];
  }
}

interface Given extends Pick<KeyContext, 'entry' | 'project' | 'documents' | 'secondsUpTo'> {
  readonly file: string;
  readonly where: string;
  readonly name: string;
  /** The name in the file. */
  readonly written: string;
  readonly notices: Notices;
}

const OF_REMOTES = ['url', 'headers', 'headersHelper', 'auth.scopes', 'auth.resource', 'transport'];
const OF_CHILDREN = ['command', 'args', 'env', 'cwd'];

/** Translates one entry into the form of the YAML file. */
export class Translation {
  readonly #given: Given;
  readonly #context: ExpandContext;
  readonly #found: ConfigProblem[] = [];
  readonly #literal = new Set<string>();
  readonly #sources = new Map<string, string>();
  readonly #values = new Map<string, unknown>();
  readonly #files: string[] = [];

  constructor(given: Given, context: ExpandContext) {
    this.#given = given;
    this.#context = context;
  }

  /** `variables`: what the client adds to the environment of its servers. */
  read(variables: JsonObject): TranslatedEntry {
    const { entry, name } = this.#given;
    const isPresent = (value: unknown) =>
      value != null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0);
    const keys = Object.keys(entry).filter((key) => isPresent(entry[key]));
    const known = Object.keys(CLIENT_KEYS).filter((key) => keys.includes(key));
    if (Object.keys(variables).length > 0) this.#set('env', variables, undefined, true);
    for (const key of [...known, ...keys.filter((key) => !known.includes(key))]) this.#readKey(key);
    const isChild = this.#isChild();
    const ineffective = isChild ? OF_REMOTES : this.#values.has('url') ? OF_CHILDREN : [];
    for (const target of ineffective) this.#drop(target, isChild, Object.keys(variables));
    const value: Record<string, unknown> = { name };
    for (const [path, one] of this.#values) {
      const [section = '', key] = path.split('.');
      value[section] = key === undefined ? one : { ...(value[section] as JsonObject), [key]: one };
    }
    const { headersHelper, ...others } = value;
    return {
      value: others,
      literal: this.#literal,
      sources: this.#sources,
      found: this.#found,
      files: this.#files,
      ...(Array.isArray(headersHelper) && { headersHelper }),
    };
  }

  /** Whether the entry is a command. If it is also a URL, its type decides. */
  #isChild(): boolean {
    const { entry } = this.#given;
    const type = toText(entry.type ?? entry.transport ?? '');
    const isRemoteType = /^(?:sse|remote|http|streamable.?http)$/i.test(type);
    return this.#values.has('command') && !(this.#values.has('url') && isRemoteType);
  }

  #drop(target: string, isChild: boolean, given: readonly string[]): void {
    const value = this.#values.get(target);
    const source = this.#sources.get(target) ?? target;
    this.#values.delete(target);
    const isGiven = isObject(value) && Object.keys(value).every((name) => given.includes(name));
    if (value === undefined || isGiven || target === 'transport') return;
    this.#notRead(source, `not read, because it has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }

  #readKey(key: string): void {
    const { where, entry, project, file, documents, secondsUpTo, written } = this.#given;
    const rule = ruleOf(key);
    if (rule === undefined || 'notRead' in rule) {
      this.#notRead(key, rule?.notRead ?? unknownAdvice(key));
      return;
    }
    const reportHere = reporter(this.#found, file);
    const path = `${where}.${key}`;
    const expand: KeyContext['expand'] = (text, form = this.#context.references.form) => {
      const before = this.#found.length;
      let isUnset = false;
      const onUnset =
        this.#context.onUnset &&
        ((...problem: Parameters<Report>) => {
          isUnset = true;
          this.#context.onUnset?.(...problem);
        });
      const references = { ...this.#context.references, form };
      const read = expandReferences(text, path, { ...this.#context, references, onUnset }, reportHere);
      return isUnset || this.#found.length > before ? undefined : read;
    };
    const variable = (name: string) => {
      const value = this.#context.environment[name] || undefined;
      if (value !== undefined) this.#context.expanded.push([name, value]);
      else this.#context.onUnset?.(path, notChecked(name));
      return value ?? (this.#context.onUnset && `\u0024{${name}}`);
    };
    const targets = rule.read(entry[key], {
      entry,
      name: written,
      documents,
      project,
      secondsUpTo,
      expand,
      readFile: (file) => {
        this.#files.push(file);
        return readText(file);
      },
      variable,
      report: (message, member) => void reportHere(member === undefined ? path : `${path}.${member}`, message),
      notRead: (advice) => void this.#notRead(key, advice),
    });
    for (const [target, value] of Object.entries(targets ?? {})) this.#set(target, value, key, rule.isLiteral === true);
  }

  #set(target: string, value: unknown, key: string | undefined, isLiteral: boolean): void {
    const before = this.#values.get(target);
    const isMap = isObject(value);
    if (isMap && isObject(before)) this.#values.set(target, { ...before, ...value });
    else if (Array.isArray(value) && Array.isArray(before)) this.#values.set(target, [...before, ...value]);
    else this.#values.set(target, value);
    const paths = isMap
      ? Object.keys(value).map((name) => [`${target}.${name}`, `.${name}`] as const)
      : [[target, ''] as const];
    const raw = key === undefined ? undefined : this.#given.entry[key];
    for (const [path, member] of paths) {
      if (isLiteral) this.#literal.add(path);
      else this.#literal.delete(path);
      const isMember = isObject(raw) && Object.hasOwn(raw, member.slice(1));
      if (key !== undefined) this.#sources.set(path, isMember ? `${key}${member}` : key);
    }
    if (key !== undefined) this.#sources.set(target, key);
  }

  #notRead(key: string, advice: string): void {
    const { where, name, notices } = this.#given;
    notices.addKey(key, `${where}.${key}`, advice, name);
  }
}

/** The keys of clients for those of YAML. */
const OF_CLIENTS: Readonly<Record<string, string>> = {
  envs: 'env',
  inherit_env: 'env_vars',
  startup_timeout: 'startup_timeout_ms',
  'headers.Authorization': 'headers',
  'tools.allow': 'includeTools',
  'tools.deny': 'excludeTools',
};

function unknownAdvice(key: string): string {
  if (Object.hasOwn(SERVER_TABLE, key))
    return 'not read: it is a key of the YAML file, into which you can write this server';
  const meant = meantKey(key, Object.keys(CLIENT_KEYS), SERVER_WORDS) ?? '';
  const known = OF_CLIENTS[meant] ?? meant;
  return `not read, because no client documents this key${ruleOf(known) === undefined ? '' : `; did you mean ${known}?`}`;
}
