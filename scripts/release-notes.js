// Prints the section of docs/changelog.md for the release with this tag, as the text of a GitHub release:
//   node scripts/release-notes.js v1.2.3
// Fails if the tag is not the version in package.json, or the changelog has no such section: nothing is published then.
import { readFileSync } from 'node:fs';

const [tag = ''] = process.argv.slice(2);
const { version, homepage } = JSON.parse(readFileSync('package.json', 'utf8'));

const problem = problemOf(tag);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  console.log(notesOf(tag));
}

function problemOf(tag) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    return `The version in package.json is ${version}. Only X.Y.Z is released: a pre-release needs a tag of its own at npm.`;
  }
  if (tag !== `v${version}`) {
    return `The tag is "${tag}", but the version in package.json is ${version}. Raise the version, or set the tag v${version}.`;
  }
  if (!notesOf(tag)) {
    return `docs/changelog.md has no section "## ${tag} — YYYY-MM-DD". Move what is under "Unreleased" to it.`;
  }
  return undefined;
}

/** Without the heading, with links that work outside the repository, and with one line per paragraph: a release shows every line break. */
function notesOf(tag) {
  const sections = readFileSync('docs/changelog.md', 'utf8').split(/^(?=## )/m);
  const section = sections.find((text) => /^## (\S+) — \d{4}-\d\d-\d\d\s/.exec(text)?.[1] === tag) ?? '';
  const docs = `${homepage.replace(/#.*/, '')}/blob/${tag}/docs/`;
  return section
    .replace(/^## .*/, '')
    .replace(/\n +(?=[^-\s])/g, ' ')
    .replace(/\]\((?!https?:|#)([^)]+)\)/g, (_, target) => `](${new URL(target, docs)})`)
    .trim();
}
