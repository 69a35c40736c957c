import { expect, test } from 'vitest';
import { rightsBy } from '../../../../src/domain/gateway/access.ts';
import { BUILT_IN_SERVER } from '../../../../src/domain/gateway/call-origin.ts';
import { textOf } from '../../../../src/domain/gateway/tool-result.ts';
import { never } from '../../../contract/search-kit.ts';
import { catalogueOf, keepReports } from '../../../support/catalogue.ts';
import { startAudit } from '../../../support/fake-audit.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { callerOf, LOCAL } from '../../../support/origins.ts';
import { TODAY, todayProvider } from '../../../support/today-provider.ts';

test('a tool of another kind needs one provider, and gets access, audit and reports', async () => {
  const clock = new FakeClock();
  const { audit, log } = startAudit();
  const reports: object[] = [];
  const catalogue = catalogueOf([todayProvider({ tool: TODAY, clock })], { clock, audit, on: keepReports(reports) });
  const call = { server: BUILT_IN_SERVER, tool: 'today', args: {}, by: LOCAL };
  expect(textOf((await catalogue.call(call, never()))._unsafeUnwrap())).toBe('2026-01-05');
  const rights = rightsBy({ alice: { answers: ['answer'] } })({ caller: 'alice' });
  const denied = await catalogue.call({ ...call, by: callerOf('alice', { rights }) }, never());
  expect(denied._unsafeUnwrapErr()).toMatchObject({ kind: 'unknown_tool', known: [], isDenied: true });
  expect(log.entries.map(({ outcome }) => outcome)).toEqual(['answered', 'denied']);
  expect(reports).toMatchObject([
    { server: BUILT_IN_SERVER, tool: 'today', outcome: 'answered' },
    { tool: '', isDenied: true },
  ]);
});
