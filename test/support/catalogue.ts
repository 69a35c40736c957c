import { answerToolList } from '../../src/adapters/inbound/mcp/tool-schemas.ts';
import { AnswerProvider } from '../../src/application/answers/answer-provider.ts';
import type { Application } from '../../src/application/answers/application.ts';
import type { Gateway } from '../../src/application/gateway/gateway.ts';
import type { CallEvent, ToolCall } from '../../src/application/tools/tool-call.ts';
import { type CatalogueOptions, ToolCatalogue } from '../../src/application/tools/tool-catalogue.ts';
import { BUILT_IN_SERVER } from '../../src/domain/gateway/call-origin.ts';
import { FakeClock } from './fake-clock.ts';

type AnswerOptions = Partial<ConstructorParameters<typeof AnswerProvider>[0]>;

/** The answer tools of an application. */
export function answersOf(application: Pick<Application, 'answerQuery'>, options: AnswerOptions = {}): AnswerProvider {
  const describe = (hasEffects: boolean) =>
    answerToolList(20_000, hasEffects).map((tool) => ({ server: BUILT_IN_SERVER, ...tool }));
  return new AnswerProvider({ load: async () => application, describe, timeoutMs: 300_000, ...options });
}

type Options = Partial<Omit<CatalogueOptions, 'providers'>>;

/** The catalogue of these providers. */
export function catalogueOf(
  providers: readonly ReturnType<CatalogueOptions['providers']>[number][],
  options: Options = {},
) {
  return new ToolCatalogue({ clock: new FakeClock(), ...options, providers: () => providers });
}

/** Calls a tool of a gateway through a catalogue. */
export function callOn(gateway: Gateway, call: ToolCall, signal: AbortSignal, options: Options = {}) {
  return catalogueOf([gateway], options).call(call, signal);
}

/** A reader of the events of calls that keeps the reports of their ends. */
export function keepReports(reports: object[]) {
  return (event: CallEvent) => {
    if (event.kind === 'ended') reports.push(event.report);
  };
}
