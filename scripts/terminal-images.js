// npm run images: asks the built program questions, and writes what a terminal shows into docs/images. The program answers from
// the shipped recordings, so that the pictures are the same on every machine.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadBundle } from './lib/load-source.js';
import { LOOK, QUESTIONS, THEMES, terminalImage } from './lib/terminal-image.js';

// A pipe gets Markdown; this is what a terminal shows instead.
const { toTerminalText } = await loadBundle(
  "export { toTerminalText } from './src/adapters/inbound/cli/terminal-markdown.ts';",
);
const root = fileURLToPath(new URL('..', import.meta.url));
// Without the configuration of this machine.
const home = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-images-'));
try {
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
  for (const [name, question] of Object.entries(QUESTIONS)) {
    const args = [path.join(root, 'build/index.js'), 'ask', '--offline', question];
    const output = execFileSync(process.execPath, args, { env, cwd: home, encoding: 'utf8' });
    for (const [theme, colors] of Object.entries(THEMES)) {
      const file = `docs/images/${name}-${theme}.svg`;
      writeFileSync(path.join(root, file), terminalImage(question, toTerminalText(output, LOOK), colors));
      console.log(file);
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
