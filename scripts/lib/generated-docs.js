import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configSchema } from './config-schema.js';
import { installParts } from './install-links.js';
import { loadSource } from './load-source.js';

/** The documents with generated parts: `<!-- generated: NAME -->`, the part, `<!-- /generated -->`. */
const DOCUMENTS = [
  'README.md',
  'README.ja.md',
  'docs/clients.md',
  'docs/reference/config-reference.md',
  'docs/gateway.md',
  'docs/reference/transports.md',
  'docs/spec.md',
];

/** Generates each part, by its name, from the exports of the code. */
const PARTS = {
  keys: ({ KEYS }) =>
    table(
      ['key, variable, option', 'meaning', 'accepted', 'default'],
      withSharedRows(KEYS.flatMap((key) => keyRows(key, inShort(key.kind.accepted)))),
    ),
  'server-keys': ({ SERVER_TABLE }) =>
    table(
      ['key', 'meaning', 'default'],
      Object.entries(SERVER_TABLE).map(([name, { description, absent, ...key }]) => {
        const fallback = absent ?? (key.default === undefined ? '' : `\`${toText(key.default)}\``);
        return [`\`${name}\``, description, fallback];
      }),
    ),
  clients: ({ CLIENTS }) =>
    table(
      ['client', 'files', 'its servers', 'its variables'],
      CLIENTS.map(({ title, files, userFiles = [], servers, references = 'dollar' }) => [
        title,
        [...files, ...userFiles.map((file) => `~/…/${file}`.replace('…/.', '.'))].map(code).join(', '),
        servers.map((path) => (path.length === 0 ? 'at the top level' : code(path.join('.')))).join(', '),
        VARIABLES[references],
      ]),
    ),
  'client-keys': ({ CLIENTS, CLIENT_KEYS }) =>
    table(
      ['key', 'documented by', 'here'],
      Object.entries(CLIENT_KEYS).map(([name, rule]) => {
        const titles = CLIENTS.filter(({ keys }) => keys.includes(name)).map(({ title }) => title);
        const by = titles.length > CLIENTS.length / 2 ? 'most' : titles.join(', ') || 'others';
        return [code(name), by, rule.is ?? rule.notRead];
      }),
    ),
  options: ({ usage }) => `\`\`\`text\n${usage().trimEnd()}\n\`\`\``,
  'answer-outcomes': ({ ANSWER_OUTCOMES }) =>
    Object.entries(ANSWER_OUTCOMES)
      .map(([outcome, meaning]) => `- \`${outcome}\`${meaning && `: ${meaning}`}`)
      .join('\n'),
  'tool-outcomes': ({ TOOL_OUTCOMES, toolErrorCode }) =>
    TOOL_OUTCOMES.map((outcome) => `- \`${outcome}\`${codeOf(outcome, toolErrorCode)}`).join('\n'),
  tools: ({ answerToolList }) => toolSections(answerToolList(20_000)),
  ...Object.fromEntries(Object.entries(installParts()).map(([name, part]) => [name, () => part])),
};

/** The generated files and the documents with generated parts: the complete text of each by its path. */
export async function generatedDocs() {
  const source = await loadSource();
  const documents = DOCUMENTS.map((path) => {
    const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
    return [
      path,
      text.replace(/(<!-- generated: (\S+) -->\n)[\s\S]*?(<!-- \/generated -->)/g, (_, start, name, end) => {
        if (PARTS[name] === undefined) throw new Error(`${path}: there is no generated part ${name}`);
        return `${start}\n${PARTS[name](source)}\n\n${end}`;
      }),
    ];
  });
  const schema = `${JSON.stringify(configSchema(source), null, 2)}\n`;
  return new Map([
    ...documents,
    ['config/config.schema.json', schema],
    ['src/domain/answers/list-prices.ts', listPrices()],
  ]);
}

/** The list prices of `config/prices.json` as a part of the program. */
function listPrices() {
  const { date, source, prices } = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../config/prices.json', import.meta.url)), 'utf8'),
  );
  const rows = Object.entries(prices).map(
    ([model, { input, cached_input: cached = null, output, search = 0 }]) =>
      `    ['${model}', ${input}, ${cached}, ${output}, ${search}],`,
  );
  return `// Generated from config/prices.json by npm run docs.

type Row = readonly [model: string, input: number, cachedInput: number | null, output: number, search: number];

/** Dollars for a million tokens, and for one search. Source: ${source} */
export const LIST_PRICES: { readonly date: string; readonly rows: readonly Row[] } = {
  date: '${date}',
  rows: [
${rows.join('\n')}
  ],
};
`;
}

/** How the texts of a client refer to variables. */
const VARIABLES = {
  dollar: '`\u0024{NAME}`, `\u0024{env:NAME}`',
  bare: '`\u0024{NAME}`, `$NAME`',
  braces: '`{env:NAME}`, `{file:PATH}`',
  env: '`\u0024{env:NAME}`',
  none: 'none',
};

const code = (text) => `\`${text}\``;

/** The rows of a key. The profiles of the other tools have the keys of `answer`, and one row each. */
function keyRows({ path, variable, option, description, absent = 'none', ...key }, accepted) {
  const [, profile, name] = /^(model_profiles\.(?:answer_detailed|answer_quick))\.(.*)/.exec(path) ?? [];
  const asAnswer = [`\`${profile}.*\``, 'the keys of `model_profiles.answer`', 'the same', 'same as `answer`'];
  if (profile !== undefined) return name === 'model' ? [asAnswer] : [];
  const names = [path, variable, option].filter((name) => name !== undefined).map((name) => `\`${name}\``);
  const fallback = key.default === undefined ? absent : `\`${toText(key.default)}\``;
  return [[names.join(', '), description, accepted, fallback]];
}

/** Merges neighboring rows with the same meaning. */
function withSharedRows(rows) {
  const shared = [];
  for (const [names, meaning, accepted, fallback] of rows) {
    const last = shared.at(-1);
    if (last?.[1] !== meaning) shared.push([names, meaning, accepted, fallback]);
    else {
      last[0] += `, ${names}`;
      if (last[2] !== accepted) last[2] += `; ${accepted}`;
    }
  }
  return shared;
}

/** The accepted values in short, for a table. An error of the program has the complete text. */
function inShort(accepted) {
  return accepted
    .replace(/^true or false$/, 'boolean')
    .replace(/^an integer of milliseconds, (\d+) or greater$/, 'ms ≥ $1')
    .replace(/^an integer, (\d+) or greater$/, 'integer ≥ $1')
    .replace(/^one of /, '')
    .replace(/^(?:an?|the) /, '')
    .replace(/ without user, query or fragment, such as \S+/, '');
}

function toolSections(tools) {
  const schemas = tools.map(({ inputSchema }) => JSON.stringify(inputSchema, null, 2));
  const sections = tools.map(({ name, description }, index) => {
    const same = tools[schemas.indexOf(schemas[index])].name;
    const schema = same === name ? `\`\`\`json\n${schemas[index]}\n\`\`\`` : `The schema is that of \`${same}\`.`;
    return `### \`${name}\`\n\n"${description}"\n\n${schema}`;
  });
  return sections.join('\n\n');
}

function table(header, rows) {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The code of an outcome in REST. */
function codeOf(outcome, toolErrorCode) {
  if (outcome === 'answered') return '';
  if (outcome === 'asked') return ': the caller got a question of the server, and may answer';
  if (outcome === 'internal_error') return ': `INTERNAL_ERROR`';
  if (outcome === 'tool_error') return ': `TOOL_EXECUTION_ERROR`';
  if (outcome === 'json_rpc') return ': `TOOL_EXECUTION_ERROR`, or by its code';
  return `: \`${toolErrorCode({ kind: outcome })}\``;
}

function toText(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
