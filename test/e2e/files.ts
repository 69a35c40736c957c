import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder for one test. */
export function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-e2e-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file for one test. */
export function newFile(name: string, content: string): string {
  const file = path.join(newFolder(), name);
  writeFileSync(file, content);
  return file;
}
