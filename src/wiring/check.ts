import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { checkTextFor } from '../adapters/inbound/cli/check-text.ts';
import type { CommandContext } from '../adapters/inbound/cli/command-context.ts';
import type { Command } from '../adapters/inbound/cli/command-line.ts';
import { BAD_USAGE, INTERRUPTED } from '../adapters/inbound/exit-codes.ts';
import { CHECK } from '../adapters/inbound/words/check-messages.ts';
import { unreadableFile } from '../adapters/inbound/words/tool-error-messages.ts';
import { createCitedPages } from '../adapters/outbound/pages/create-cited-pages.ts';
import { untilAborted } from '../application/async/deadline.ts';
import { checkSources } from '../application/check/check-sources.ts';
import { reasonOf } from '../domain/values/certificate-problem.ts';
import { isWebUrl } from '../domain/values/web-url.ts';
import type { Runtime } from './runtime.ts';
import { PROGRAM, VERSION } from './version.ts';

/** The check of sources. Import this only when a text is checked: it loads the parser of HTML. */
export function composeCheck({ clock, logger, config }: Runtime) {
  const { timeZone, pageProxy: proxy } = config;
  const userAgent = `${PROGRAM}/${VERSION} (checks sources)`;
  const options = { clock, logger, timeZone, resolveDates: false, check: 'evidence', userAgent, proxy } as const;
  const { citedPages, fetchText, close } = createCitedPages(options);
  return { check: checkSources({ citedPages, clock }), fetchText, close };
}

/** Checks the text of a file, of a page or of standard input. */
export async function runCheck(
  { source, json }: Extract<Command, { readonly kind: 'check' }>,
  context: Runtime & CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { check, fetchText, close } = composeCheck(context);
  try {
    const reading = isWebUrl(source) ? fetchText(source, signal) : source === '-' ? text(process.stdin) : undefined;
    const read = reading === undefined ? readFileSync(source, 'utf8') : await untilAborted(reading, signal);
    if (signal.aborted) return INTERRUPTED;
    const isText = typeof read === 'string' && !read.includes('\0');
    if (isText) return await checkTextFor({ ...context, check, text: read, json }, signal);
    const page = typeof read === 'string' ? ({ state: 'unreadable', reason: 'not_text' } as const) : read;
    context.err.write(`${CHECK.unreadable(source, page)}\n`);
  } catch (error) {
    context.err.write(`${unreadableFile(source, reasonOf(error))}\n`);
  } finally {
    await close();
  }
  return BAD_USAGE;
}
