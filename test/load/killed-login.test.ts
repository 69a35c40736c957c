import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { newFolder } from '../e2e/files.ts';

const SERVER = 'https://notes.example.com/mcp';
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 10);

/** Writes one login after the other, each with its number in every place, until it is killed. */
const WRITER = `
const [, chunk, folder] = process.argv;
const { LoginFiles } = await import(chunk);
const clock = { now: () => new Date(), sleep: () => new Promise(() => {}) };
const files = new LoginFiles(folder, clock);
const place = { url: '${SERVER}', use: 'shared' };
for (let number = 1; ; number += 1) {
  const text = String(number).repeat(2000);
  const tokens = { access_token: text, refresh_token: text };
  const metadata = { issuer: 'https://issuer.example.com/' + text, token_endpoint: 'https://issuer.example.com/token' };
  const login = { id: String(number), metadata, client: { client_id: text }, tokens, receivedAt: number };
  await files.locked(place, () => files.write(place, login));
  if (number === 1) process.stdout.write('begun\\n');
}`;

test(`a process that is killed at any moment leaves the old login or the new one (${ROUNDS} rounds)`, async () => {
  const folder = newFolder();
  const program = join(newFolder(), 'login-files.mjs');
  const input = fileURLToPath(new URL('../../src/adapters/outbound/login/login-files.ts', import.meta.url));
  const bundle = await rolldown({ input, platform: 'node' });
  await bundle.write({ file: program, format: 'es' });
  await bundle.close();
  const files = new LoginFiles(folder, new SystemClock());
  for (let round = 0; round < ROUNDS; round += 1) {
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, pathToFileURL(program).href, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    await sleep(Math.random() * 30);
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    const login = await files.read({ url: SERVER, use: 'shared' });
    const text = login?.id.repeat(2000);
    const issuer = `https://issuer.example.com/${text}`;
    expect(login).toMatchObject({ metadata: { issuer }, tokens: { access_token: text, refresh_token: text } });
    // Others take it over after 10 s.
    rmSync(files.pathOf({ url: SERVER, use: 'shared' }).replace(/json$/, 'lock'), { force: true });
  }
});
