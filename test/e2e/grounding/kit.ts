import { onTestFinished } from 'vitest';
import { type ConversationItem, calls, cites, reasons, says, searches } from '../../support/conversation-items.ts';
import { type ConversationApi, startConversationApi } from '../../support/fake-conversation-api.ts';
import type { JsonRpcMessage } from '../../support/mcp-output.ts';
import { type ScriptedServer, type ScriptedTool, scriptedServer, text } from '../../support/scripted-mcp.ts';
import { newFile } from '../files.ts';
import { apiEnv, serve } from '../serve.ts';

/** A tool that only reads, with a link to what it found. */
export const SEARCH_NOTES: ScriptedTool = {
  name: 'search_notes',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  annotations: { readOnlyHint: true },
  reactions: [
    {
      result: {
        content: [
          { type: 'text', text: 'Deploy on Tuesdays.' },
          {
            type: 'resource_link',
            uri: 'https://notes.example/deploy',
            name: 'deploy',
            title: 'Deploy notes',
            annotations: { lastModified: '2026-03-04T05:06:07Z' },
          },
        ],
      },
    },
  ],
};
/** A tool with effects. */
const WRITE_NOTE: ScriptedTool = { name: 'write_note', reactions: [text('Written.')] };

const CITATIONS = [{ url: 'https://holidays.example/', title: 'Holidays' }];

/** A round with a search and a call, and one with the answer. */
export const CONVERSATION: readonly (readonly ConversationItem[])[] = [
  [
    reasons('1'),
    searches('1', 'holidays next week', ['https://holidays.example/']),
    says('1', 'I also look at the notes ([Holidays](https://holidays.example/)).', {
      phase: 'commentary',
      citations: CITATIONS,
    }),
    calls('1', 'notes__search_notes', { word: 'deploy' }),
  ],
  [reasons('2'), says('2', `We deploy on Tuesday.${cites('turn0tool0')} It is no holiday.`, { phase: 'final_answer' })],
];

interface Configuration {
  readonly notes?: ScriptedServer;
  /** The section `grounding`; `{tools: {notes: all}}` by default. */
  readonly grounding?: object;
  /** More of the configuration. */
  readonly more?: object;
}

/** A configuration file with the server `notes`. JSON is YAML. */
export function configFile({ notes, grounding = { tools: { notes: 'all' } }, more = {} }: Configuration): string {
  const servers = notes === undefined ? [] : [{ name: 'notes', command: notes.command, args: notes.args }];
  return newFile('config.yaml', JSON.stringify({ servers, grounding, ...more }));
}

/** A fake of the API for conversations, for one test. */
export async function conversationApi(): Promise<ConversationApi> {
  const api = await startConversationApi();
  onTestFinished(() => api.close());
  return api;
}

/** The built program over stdio with the server `notes` and the fake API. */
export async function serveGrounded({
  tools = [SEARCH_NOTES, WRITE_NOTE],
  ...configuration
}: Omit<Configuration, 'notes'> & { readonly tools?: readonly ScriptedTool[] } = {}) {
  const api = await conversationApi();
  const notes = scriptedServer(tools);
  const server = serve({ args: ['--stdio', '--config', configFile({ notes, ...configuration })], env: apiEnv(api) });
  await server.initialize();
  return { api, notes, server };
}

/** What an answer took, as callers see it. */
export function reportOf({ result }: JsonRpcMessage): Readonly<Record<string, unknown>> {
  const meta = result?._meta as Readonly<Record<string, unknown>>;
  return meta['io.github.uchimanajet7.openai-responses-mcp/report'] as Readonly<Record<string, unknown>>;
}
