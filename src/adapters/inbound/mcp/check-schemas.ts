import { CHECK_TOOL } from '../../../domain/answers/tool-name.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { objectSchema } from './answer-schemas.ts';

const OUTPUT = {
  summary: { type: 'string' },
  findings: { type: 'integer', description: 'dead links, and claims with figures that are not on their page' },
  links: { type: 'array', items: { type: 'object' }, description: 'url, state (ok, dead, unreadable), status, reason' },
  claims: { type: 'array', items: { type: 'object' }, description: 'claim, url, missing figures, nearest passage' },
};

const FURTHER = { type: 'integer', description: 'links after the first 2,000, which were not read' };

export const CHECK_SOURCES: GatewayTool = {
  server: BUILT_IN_SERVER,
  name: CHECK_TOOL,
  title: 'Check the sources of a text',
  description:
    'Check a text that has links (Markdown, HTML, footnotes, numbered sources) before you rely on it: whether each linked page exists, and which figures of the sentences that cite it are not on the page.',
  inputSchema: objectSchema({ text: { type: 'string', description: 'The complete text, with its links.' } }, 'text'),
  outputSchema: objectSchema({ ...OUTPUT, further_links: FURTHER }, ...Object.keys(OUTPUT)),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
};
