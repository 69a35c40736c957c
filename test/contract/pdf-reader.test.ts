import { chmodSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PdfReader } from '../../src/adapters/outbound/pages/pdf-reader.ts';
import { newFile } from '../e2e/files.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { HAS_PDFTOTEXT, tinyPdf } from '../support/tiny-pdf.ts';
import { never } from './search-kit.ts';

/** A program in place of `pdftotext`. */
function program(command: string): string {
  const file = newFile('pdftotext', `#!/bin/sh\n${command}\n`);
  chmodSync(file, 0o700);
  return file;
}

async function* bodyOf(...chunks: readonly (string | Buffer)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const start = (command?: string) => {
  const clock = new FakeClock('2026-11-21T03:00:00Z');
  return { clock, reader: new PdfReader(clock, command) };
};
const ok = (text: string) => ({ bytes: Buffer.from(text), isCut: false });
const DOCUMENT = tinyPdf([['The tower has 42 steps.']]);

// N4.7
describe('a PDF', () => {
  test.skipIf(!HAS_PDFTOTEXT)('has the text of its pages, which form feeds end', async () => {
    const document = tinyPdf([['The tower has 42 steps.', 'It is red.'], ['The end.']]);
    const parts = [document.subarray(0, 5), document.subarray(5)];
    const text = await start().reader.read(bodyOf(...parts), never());
    expect('bytes' in text && String(text.bytes)).toMatch(/^The tower has 42 steps\.\nIt is red\.\n+\fThe end\.\n+\f$/);
  });

  test.skipIf(!HAS_PDFTOTEXT)('that is none inside has no text', async () => {
    expect(await start().reader.read(bodyOf('%PDF-1.7\nnothing'), never())).toEqual({ reason: 'bad_pdf' });
  });

  test('is not read without the program', async () => {
    expect(await start('/nowhere/pdftotext').reader.read(bodyOf(DOCUMENT), never())).toEqual({ reason: 'no_pdf' });
  });

  test('is one by its first bytes', async () => {
    const { reader } = start('/nowhere/pdftotext');
    expect(await reader.read(bodyOf('<p>A page'), never())).toEqual({ reason: 'bad_pdf' });
    expect(await reader.read(bodyOf(`\n${DOCUMENT}`), never())).toEqual({ reason: 'no_pdf' });
  });

  test('of more than 10 MB is not read', async () => {
    const large = bodyOf(DOCUMENT, Buffer.alloc(10_000_000), Buffer.alloc(10));
    expect(await start('/nowhere/pdftotext').reader.read(large, never())).toEqual({ reason: 'large_pdf' });
  });
});

describe.skipIf(process.platform === 'win32')('the process that reads a PDF', () => {
  test('gets the document on its standard input', async () => {
    const { reader } = start(program('exec cat'));
    expect(await reader.read(bodyOf(DOCUMENT), never())).toEqual(ok(`${DOCUMENT}`));
  });

  test('gets no variable but the path', async () => {
    const text = await start(program('exec env')).reader.read(bodyOf(DOCUMENT), never());
    const names = 'bytes' in text ? String(text.bytes).match(/^\w+(?==)/gm) : [];
    expect(names).toContain('PATH');
    // The shell of the test sets the others.
    expect(names?.filter((name) => !['PATH', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([]);
  });

  test('ends after 2 MB of text', async () => {
    const { reader } = start(program('exec yes'));
    const text = await reader.read(bodyOf(DOCUMENT), never());
    expect(text).toMatchObject({ isCut: true });
    expect('bytes' in text && text.bytes.length).toBe(2_000_000);
  });

  test('ends after 10 s', async () => {
    const { reader, clock } = start(program('exec sleep 100'));
    const reading = reader.read(bodyOf(DOCUMENT), never());
    await expect.poll(() => clock.pendingSleeps).toBe(1);
    await clock.advance(10_000);
    expect(await reading).toEqual({ reason: 'timeout' });
  });

  test('ends with its page, and gives its place to the next', async () => {
    const { reader } = start(program('exec sleep 100'));
    const controller = new AbortController();
    const readings = [1, 2, 3].map(() => reader.read(bodyOf(DOCUMENT), controller.signal));
    onTestFinished(() => controller.abort());
    controller.abort();
    expect(await Promise.all(readings)).toEqual([1, 2, 3].map(() => ({ reason: 'timeout' })));
    expect(await start(program('exec cat')).reader.read(bodyOf(DOCUMENT), never())).toMatchObject({ isCut: false });
  });

  test('that fails has a document that cannot be read', async () => {
    expect(await start(program('exit 3')).reader.read(bodyOf(DOCUMENT), never())).toEqual({ reason: 'bad_pdf' });
  });
});
