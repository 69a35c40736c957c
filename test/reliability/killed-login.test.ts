import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { newFolder } from '../e2e/files.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const SERVER = 'https://notes.example.com/mcp';
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 10);

/** Writes one login after the other, each with its number in every place, until it is killed. */
const WRITER = `
const [, chunk, folder] = process.argv;
const { LoginFiles } = await import(chunk);
const clock = { now: () => new Date(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
const files = new LoginFiles(folder, clock, { warn: () => {} });
for (let number = 1; ; number += 1) {
  const text = String(number).repeat(2000);
  await files.locked('${SERVER}', (save) => save({
    url: '${SERVER}', id: String(number), metadata: { issuer: text, token_endpoint: 'https://auth.example.com/' + text }, client: { client_id: text },
    scopes: [], accessToken: text, refreshToken: text, receivedAt: number,
  }));
  if (number === 1) process.stdout.write('begun\\n');
}`;

test(`a process that is killed at any moment leaves the old login or the new one (${ROUNDS} rounds)`, async () => {
  const folder = newFolder();
  const program = join(newFolder(), 'login-files.mjs');
  const input = fileURLToPath(new URL('../../src/adapters/outbound/login/login-files.ts', import.meta.url));
  const bundle = await rolldown({ input, platform: 'node' });
  await bundle.write({ file: program, format: 'es' });
  await bundle.close();
  const files = new LoginFiles(folder, new SystemClock(), new RecordingLogger());
  for (let round = 0; round < ROUNDS; round += 1) {
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, pathToFileURL(program).href, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    await sleep(Math.random() * 30);
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    const login = await files.read(SERVER);
    expect(login).toMatchObject({ accessToken: login?.id.repeat(2000), refreshToken: login?.id.repeat(2000) });
    // Others take it over after 10 s.
    rmSync(files.pathOf(SERVER).replace(/json$/, 'lock'), { force: true });
  }
  // The next write removes what they left.
  await files.locked(SERVER, async (save) => save(await files.read(SERVER)));
  expect(readdirSync(folder)).toHaveLength(1);
});
