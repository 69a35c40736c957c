import { ok } from 'neverthrow';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditLog } from '../../src/application/ports/callers.ts';

export interface StartedAuditLog {
  readonly log: AuditLog;
  readonly lines: () => readonly string[];
  /** From now on nothing can be written; `repair` ends that. */
  readonly obstruct: () => void;
  readonly repair: () => void;
}

/** What every AuditLog guarantees. */
export function describeAuditLog(name: string, start: () => StartedAuditLog): void {
  describe(`${name} as an AuditLog`, () => {
    let log: AuditLog;
    let started: StartedAuditLog;
    beforeEach(() => {
      started = start();
      ({ log } = started);
    });

    test('has a line when it is appended, after those that it had', async () => {
      expect(await log.ready()).toEqual(ok());
      for (const line of ['{"a":1}', '{"ü":"\u{1f680}"}']) {
        expect(await log.append(line)).toEqual(ok());
        expect(started.lines().at(-1)).toBe(line);
      }
      expect(started.lines()).toEqual(['{"a":1}', '{"ü":"\u{1f680}"}']);
    });

    test('has all lines that are appended at the same time, in their order', async () => {
      const lines = Array.from({ length: 200 }, (_, index) => `${index} ${'x'.repeat(index * 300)}`);
      const written = await Promise.all(lines.map((line) => log.append(line)));
      expect(written).toEqual(lines.map(() => ok()));
      expect(started.lines()).toEqual(lines);
    });

    test('says why nothing can be written, keeps the lines, and writes them first when something can', async () => {
      await log.append('1');
      started.obstruct();
      expect((await log.append('2')).isErr()).toBe(true);
      expect((await log.ready()).isErr()).toBe(true);
      expect((await log.append('3')).isErr()).toBe(true);
      started.repair();
      expect(await log.ready()).toEqual(ok());
      expect(await log.append('4')).toEqual(ok());
      expect(started.lines()).toEqual(['1', '2', '3', '4']);
    });

    test('continues after it was opened again', async () => {
      await log.append('1');
      const [, opened] = await Promise.all([log.append('2'), log.open(), log.append('3')]);
      expect(opened).toEqual(ok());
      await log.append('4');
      await log.close();
      expect(started.lines()).toEqual(['1', '2', '3', '4']);
    });
  });
}
