import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configSchema, descriptionOf } from './config-schema.js';
import { installParts } from './install-links.js';
import { WITHOUT_KEY } from './key-descriptions.js';
import { loadSource } from './load-source.js';
import { outcomeRows } from './outcomes.js';
import { SERVER_KEYS } from './server-keys.js';

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

/** What the parts are generated from the code. */
const PARTS = {
  keys: ({ KEYS }) =>
    table(
      ['key, variable, option', 'meaning', 'accepted', 'default'],
      KEYS.flatMap((key) => keyRows(key, key.kind.accepted)),
    ),
  'server-keys': ({ SERVER_TABLE }) =>
    table(
      ['key', 'meaning', 'default'],
      Object.keys(SERVER_TABLE).map((name) => {
        if (SERVER_KEYS[name] === undefined) throw new Error(`scripts/lib/server-keys.js does not describe ${name}`);
        return [`\`${name}\``, SERVER_KEYS[name].meaning, SERVER_KEYS[name].default ?? ''];
      }),
    ),
  options: ({ USAGE }) => `\`\`\`text\n${USAGE.trimEnd()}\n\`\`\``,
  'answer-outcomes': (source) => list(outcomeRows(source).answers),
  'tool-outcomes': (source) => list(outcomeRows(source).tools),
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
  return new Map([...documents, ['config/config.schema.json', schema]]);
}

/** The profiles of the other tools have the keys of `answer`, and one row each. */
function keyRows({ path, variable, option, ...key }, accepted) {
  const [, profile, name] = /^(model_profiles\.(?:answer_detailed|answer_quick))\.(.*)/.exec(path) ?? [];
  const asAnswer = [`\`${profile}.*\``, 'the keys of `model_profiles.answer`', 'the same', 'same as `answer`'];
  if (profile !== undefined) return name === 'model' ? [asAnswer] : [];
  const names = [path, variable, option].filter((name) => name !== undefined).map((name) => `\`${name}\``);
  const fallback = key.default === undefined ? (WITHOUT_KEY[path] ?? 'none') : `\`${toText(key.default)}\``;
  return [[names.join(', '), descriptionOf(path), accepted, fallback]];
}

function toolSections(tools) {
  const schemas = tools.map(({ inputSchema }) => JSON.stringify(inputSchema, null, 2));
  const sections = tools.map(({ name, description }, index) => {
    const same = tools[schemas.indexOf(schemas[index])].name;
    const schema = same === name ? `\`\`\`json\n${schemas[index]}\n\`\`\`` : `The schema is that of \`${same}\`.`;
    return `#### 3.1.${index + 1} \`${name}\`\n\n"${description}"\n\n${schema}`;
  });
  return sections.join('\n\n');
}

function table(header, rows) {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A term and its meaning in each row; a term may have a note. */
function list(rows) {
  return rows
    .map(([term, meaning, note]) => `- ${term}${note === undefined ? '' : ` (${note})`}: ${meaning}`)
    .join('\n');
}

function toText(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
