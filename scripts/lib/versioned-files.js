import { readdirSync } from 'node:fs';
import path from 'node:path';

const ROOT_FILES = ['server.json', 'gemini-extension.json', 'llms-install.md', 'README.md', 'README.ja.md'];
const FOLDERS = ['plugin', 'deploy', 'docs'];

const NUMBER = String.raw`\d+\.\d+\.\d+(?:-[\w.]*\w)?`;
const IN_MANIFESTS = new RegExp(`(?<="version": "|openai-responses-mcp@)${NUMBER}`, 'g');
/** Versions in packages and images, the result of `initialize`, the title of the spec, and the output of `--show-config`. */
const IN_DOCUMENTS = [
  new RegExp(`(?<=openai-responses-mcp(?:[@:]|","version":"))${NUMBER}`, 'g'),
  new RegExp(String.raw`(?<=^Version )${NUMBER}(?=\. Last change)`, 'gm'),
  new RegExp(`(?<=^ {2}"version": ")${NUMBER}(?=",\\n {2}"sources")`, 'gm'),
];

/** The files that may contain the version in package.json. */
export function versionedFiles(root) {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
  );
  // The changelog is about earlier versions as well.
  return [...ROOT_FILES, ...inFolders].filter(
    (file) => /\.(?:json|md|yaml)$/.test(file) && file !== 'docs/changelog.md',
  );
}

/** The text of a file, with this version in each place that has the version of this project. */
export function withVersion(file, text, version) {
  const places = file.endsWith('.json') ? [IN_MANIFESTS] : IN_DOCUMENTS;
  return places.reduce((changed, place) => changed.replaceAll(place, version), text);
}
