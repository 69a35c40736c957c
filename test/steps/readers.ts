import { isBareUrl } from '../../src/adapters/inbound/answer-markdown.ts';
import { wrapped } from '../../src/adapters/inbound/cli/terminal-lines.ts';
import { decodeHeader } from '../../src/adapters/inbound/http/mcp.ts';
import { requestIdIn } from '../../src/adapters/outbound/mcp-client/messages.ts';
import { demandIn, scopesIn } from '../../src/adapters/outbound/network/challenge.ts';
import { excerpt, toFailure, toStreamFailure } from '../../src/adapters/outbound/openai/failure.ts';
import { isPage, shownText } from '../../src/adapters/outbound/openai/shown-text.ts';
import { decoderFor, isRobotCheck, readPage } from '../../src/adapters/outbound/pages/page-text.ts';
import { handleIn } from '../../src/domain/answers/answer-handle.ts';
import { cutAtParagraph, renderAnswer } from '../../src/domain/answers/answer-result.ts';
import { pageKey, toCitations } from '../../src/domain/answers/citation.ts';
import { linkedPages } from '../../src/domain/answers/linked-pages.ts';
import { languageOf, parseQuestion } from '../../src/domain/answers/question.ts';
import { sourcesSection, withoutSections } from '../../src/domain/answers/sources-section.ts';
import { blockQuotes } from '../../src/domain/check/block-quotes.ts';
import { checkedText } from '../../src/domain/check/checked-text.ts';
import { claimsFor } from '../../src/domain/check/citation-claims.ts';
import { sentencesIn } from '../../src/domain/check/cited-sentences.ts';
import { toClaim } from '../../src/domain/check/claim-text.ts';
import { ignoredLines } from '../../src/domain/check/ignored-lines.ts';
import { markedText, namesIn, noteName } from '../../src/domain/check/marked-text.ts';
import { quotedPassages, withoutMarks as withoutLinkMarks } from '../../src/domain/check/quoted-passages.ts';
import { textBlocks } from '../../src/domain/check/text-blocks.ts';
import { readBlocks } from '../../src/domain/check/text-notes.ts';
import type { TextPiece } from '../../src/domain/check/text-piece.ts';
import { citedQuotes } from '../../src/domain/check/text-quotes.ts';
import { linkedPage, shownUrl } from '../../src/domain/check/written-url.ts';
import { figureIndex, missingFigures } from '../../src/domain/evidence/figures.ts';
import { fold } from '../../src/domain/evidence/folded-text.ts';
import { toReading } from '../../src/domain/evidence/numerals.ts';
import { passageFor } from '../../src/domain/evidence/passages.ts';
import { isJapaneseScript, quoteForm, withoutNotes } from '../../src/domain/evidence/quote-form.ts';
import { quotesOn } from '../../src/domain/evidence/quotes.ts';
import { textLanguage } from '../../src/domain/evidence/text-language.ts';
import { traceContextOf } from '../../src/domain/gateway/call-origin.ts';
import { isAllowed } from '../../src/domain/gateway/gateway-tool.ts';
import { parseTool } from '../../src/domain/gateway/listed-tool.ts';
import { ANNOTATIONS } from '../../src/domain/gateway/member-forms.ts';
import { toServedContents, toServedResult } from '../../src/domain/gateway/served-result.ts';
import { toObjectSchema } from '../../src/domain/gateway/served-schema.ts';
import { parseGatewayUri } from '../../src/domain/gateway/shared-entries.ts';
import { parseToolResult, textOf, toPlainResult } from '../../src/domain/gateway/tool-result.ts';
import { findTools } from '../../src/domain/gateway/tool-search.ts';
import { exposedNames, functionNames, mayHaveHash, toolsByName } from '../../src/domain/gateway/unique-names.ts';
import {
  callName,
  resolveMarkers,
  sourcesOf,
  withoutFileUris,
  withoutLocalPath,
} from '../../src/domain/grounded/own-source.ts';
import { toErrorOutput, toProblemOutput, toToolOutput } from '../../src/domain/grounded/tool-output.ts';
import { bareUrls } from '../../src/domain/values/bare-urls.ts';
import { reasonOf } from '../../src/domain/values/certificate-problem.ts';
import { withoutMarks, withoutReferences } from '../../src/domain/values/citation-marks.ts';
import {
  cleanLine,
  cleanText,
  clip,
  shortLine,
  toErrorLine,
  withoutEnd,
  withoutTracking,
  withoutUnsafeCharacters,
} from '../../src/domain/values/clean-text.ts';
import { closeFence, fencedLines } from '../../src/domain/values/code-fence.ts';
import { ExactNumber, mayBeInexact, toJsonText, withExactNumbers } from '../../src/domain/values/exact-number.ts';
import { publishedOn } from '../../src/domain/values/published-date.ts';
import {
  bareKey,
  createRedactor,
  looksLikeKey,
  redactedJson,
  redactedValue,
  withoutKeyLike,
} from '../../src/domain/values/redaction.ts';
import { styled, styledLines } from '../../src/domain/values/terminal-style.ts';
import {
  decoded,
  isOnHost,
  isTooLong,
  isUnusable,
  isWebUrl,
  toHostName,
  toWebUrl,
  withoutUserInfo,
} from '../../src/domain/values/web-url.ts';

const redactor = createRedactor();
redactor.learn({ own: ['sk-0123456789', 'key1', 'aaaaaaaa-1\naaaaaaaa-2'], ofServers: ['a secret of a server'] });
const { known } = redactor;
const SOURCE = { ref: 'turn0tool0', url: 'notes://a', call: 'notes/read' };
const MAX = { characters: 4000, imageBytes: 1000 };
const CONTEXT = { redactor, route: 'api.openai.com', model: 'm', apiKeyVariable: 'OPENAI_API_KEY', attempt: 1 };
const DEFAULTS = { recencyDays: 60, maxResults: 5, domains: [] };
const block = (text: string) => ({ type: 'text', text });
const link = (text: string) => ({ type: 'resource_link', uri: `notes://${text}`, name: text });
const tool = (name: string, description = name) => ({ server: 'notes', name, description, inputSchema: {} });
const page = (text: string) => readPage(`<html><body><p>${text}`, 'text/html', false);

/** A paragraph with a link, as a grammar reads it, with a text in its lines, and in its label. */
function pieces(text: string): readonly TextPiece[] {
  const lines = text.split('\n').flatMap((line): readonly TextPiece[] => [
    { kind: 'text', text: line, at: 0 },
    { kind: 'break', at: 0 },
  ]);
  return [
    { kind: 'block', role: 'paragraph', at: 0, isNested: false },
    ...lines,
    { kind: 'link', url: `http://a.b/${text}`, at: 0 },
    ...lines,
    { kind: 'link_end', at: 0 },
    { kind: 'note', names: ['1'], at: 0 },
    ...lines,
  ];
}

/** A block of a quotation with a text. */
function quotable(text: string) {
  const [block] = textBlocks(pieces(text));
  if (block === undefined) throw new Error('no block');
  const marked = markedText(block, () => true);
  return {
    marked,
    role: 'paragraph',
    quote: 0,
    isNested: false,
    pages: marked.marks.map(() => ['http://a.b']),
  } as const;
}

/** Every function of the program that reads texts of others, with a call that gives it one. */
export const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'adapters/inbound/answer-markdown.ts#isBareUrl': (text) => isBareUrl({ type: 'link', raw: text }),
  'adapters/inbound/http/mcp.ts#decodeHeader': (text) => [decodeHeader(text), decodeHeader(`=?base64?${text}?=`)],
  'adapters/outbound/mcp-client/messages.ts#requestIdIn': (text) => [
    requestIdIn(text, text),
    requestIdIn(`{"id": "${text}`, `${text}"id": "${text}"}`),
  ],
  'adapters/outbound/network/challenge.ts#demandIn': (text) => [
    demandIn(text),
    demandIn(`Bearer ${text}`),
    demandIn(`Bearer scope="${text}`),
  ],
  'adapters/outbound/network/challenge.ts#scopesIn': scopesIn,
  'adapters/outbound/openai/failure.ts#toFailure': (text) =>
    toFailure(
      { status: 429, name: 'Error', body: { message: text, code: text, type: text }, now: new Date(0) },
      CONTEXT,
    ),
  'adapters/outbound/openai/failure.ts#toStreamFailure': (text) =>
    [{ message: text, code: text }, { error: text }, text, `try again in ${text}`].map((body) =>
      toStreamFailure(body, CONTEXT),
    ),
  'adapters/outbound/openai/shown-text.ts#isPage': isPage,
  'adapters/outbound/openai/shown-text.ts#shownText': (text) => [shownText(text), shownText(`<html>${text}`)],
  'adapters/outbound/openai/failure.ts#excerpt': (text) => excerpt(text, { redactor }),
  'adapters/outbound/pages/page-text.ts#decoderFor': (text) => [
    decoderFor(Buffer.from(text), text),
    decoderFor(Buffer.from(`<meta ${text}`), ''),
  ],
  'adapters/outbound/pages/page-text.ts#readPage': (text) => [page(text), readPage(text, 'text/plain', false)],
  'domain/answers/answer-handle.ts#handleIn': (text) => [handleIn(text), handleIn(`la1.a.${text}`)],
  'domain/answers/answer-result.ts#cutAtParagraph': (text) => cutAtParagraph(text, text.length - 10),
  'domain/answers/answer-result.ts#renderAnswer': (text) => {
    const ending = { kind: 'incomplete', reason: text } as const;
    const chosen = { body: text, usedSearch: true, listed: [], citations: [], accessedOn: '2026-11-28', ending };
    const question = parseQuestion('answer', { query: 'a' }, DEFAULTS)._unsafeUnwrap();
    return renderAnswer(chosen, { question, model: 'm', maxAnswerChars: text.length - 10 });
  },
  'domain/answers/linked-pages.ts#linkedPages': linkedPages,
  'domain/values/redaction.ts#bareKey': (text) => bareKey(`"${text}"`),
  'domain/values/citation-marks.ts#withoutMarks': (text) => [withoutMarks(text), withoutMarks(`\uE200${text}\uE201`)],
  'domain/values/citation-marks.ts#withoutReferences': (text) => [
    withoutReferences(`†${text}`),
    withoutReferences(`【1†${text}`),
  ],
  'domain/answers/citation.ts#pageKey': pageKey,
  'domain/answers/citation.ts#toCitations': (text) =>
    toCitations(
      { cited: [{ url: `https://a.com/${text}`, title: text }], consulted: [text], opened: [text] },
      3,
      '2026-01-01',
    ),
  'domain/answers/question.ts#languageOf': languageOf,
  'domain/answers/question.ts#parseQuestion': (text) =>
    parseQuestion('answer', { query: text, recency_days: text, domains: [text] }, DEFAULTS),
  'domain/answers/sources-section.ts#sourcesSection': (text) =>
    sourcesSection([{ url: `https://a.com/${text}`, published_at: '2026-01-01' }], [], '2026-01-01'),
  'domain/answers/sources-section.ts#withoutSections': (text) => [
    withoutSections(text, []),
    withoutSections(`It is so.\n\nSources:\n- ${text}`, []),
  ],
  'domain/values/bare-urls.ts#bareUrls': bareUrls,
  // The pieces have the text several times, and several of the other functions read each sentence.
  'domain/check/checked-text.ts#checkedText': (text) => checkedText(text, pieces(text.slice(text.length >> 1))),
  'domain/check/citation-claims.ts#claimsFor': (text) => claimsFor(pieces(text), 'https://a.com'),
  'domain/check/cited-sentences.ts#sentencesIn': (text) => sentencesIn(`${text}\uE0000\uE001 ${text}`),
  'domain/check/claim-text.ts#toClaim': toClaim,
  'domain/check/ignored-lines.ts#ignoredLines': (text) =>
    ignoredLines(text, [{ kind: 'hidden', text: 'check-ignore', at: 0, reason: 'comment' }], () => ({
      line: 1,
      column: 1,
    })),
  'domain/check/marked-text.ts#markedText': (text) =>
    textBlocks(pieces(text)).map((block) => markedText(block, () => true)),
  'domain/check/marked-text.ts#namesIn': (text) => namesIn({ ids: text }, text),
  'domain/check/marked-text.ts#noteName': (text) => [text, `1: p${text}`, `1†${text}`].map(noteName),
  'domain/check/text-quotes.ts#citedQuotes': (text) =>
    [text, `"${text}`].map((one) =>
      citedQuotes([{ ...quotable(one), quote: undefined, isProse: true, sentences: [] }]),
    ),
  'domain/check/text-blocks.ts#textBlocks': (text) => textBlocks(pieces(text)),
  'domain/check/text-notes.ts#readBlocks': (text) => readBlocks(pieces(text)),
  'adapters/outbound/pages/page-text.ts#isRobotCheck': (text) => isRobotCheck(text.slice(0, 1500)),
  'domain/check/block-quotes.ts#blockQuotes': (text) => blockQuotes([quotable(text)]),
  'domain/check/quoted-passages.ts#quotedPassages': (text) =>
    [text, `"${text}`].map((one) => quotedPassages(quotable(one).marked)),
  'domain/check/quoted-passages.ts#withoutMarks': withoutLinkMarks,
  'domain/check/written-url.ts#linkedPage': (text) => [linkedPage(text), linkedPage(`http://${text}`)],
  'domain/check/written-url.ts#shownUrl': shownUrl,
  'domain/evidence/figures.ts#figureIndex': figureIndex,
  'domain/evidence/figures.ts#missingFigures': (text) => missingFigures([toClaim(text)], figureIndex('')),
  'domain/evidence/folded-text.ts#fold': fold,
  'domain/evidence/numerals.ts#toReading': (text) => toReading(text),
  'domain/evidence/passages.ts#passageFor': (text) => passageFor(toClaim(text), text),
  'domain/evidence/quote-form.ts#quoteForm': quoteForm,
  'domain/evidence/quote-form.ts#withoutNotes': withoutNotes,
  'domain/evidence/quote-form.ts#isJapaneseScript': isJapaneseScript,
  'domain/evidence/quotes.ts#quotesOn': (text) => quotesOn([text], { visible: text, other: [text], isCut: true }),
  'domain/evidence/text-language.ts#textLanguage': textLanguage,
  'domain/gateway/gateway-tool.ts#isAllowed': (text) => isAllowed(text, { allow: ['a*', '*b', '*c*'] }),
  'domain/gateway/listed-tool.ts#parseTool': (text) => parseTool('notes', { ...tool(text), title: text }),
  'domain/gateway/served-result.ts#toServedResult': (text) => [
    toServedResult({ content: [{ type: 'image', data: text }, { type: text }] }, { onlyObjects: true }),
    toServedResult({ content: [{ type: 'image', data: `data:${text};base64,` }, link(text)] }, { onlyObjects: true }),
  ],
  'domain/gateway/served-result.ts#toServedContents': (text) => toServedContents({ contents: [{ blob: text }] }, text),
  'domain/gateway/served-schema.ts#toObjectSchema': (text) => toObjectSchema({ type: text }),
  'domain/gateway/member-forms.ts#ANNOTATIONS': (text) => ANNOTATIONS({ lastModified: `2026-01-01T00:00:00.${text}` }),
  'domain/gateway/shared-entries.ts#parseGatewayUri': (text) => parseGatewayUri(`gateway:///${text}`),
  'domain/gateway/tool-result.ts#parseToolResult': (text) => parseToolResult({ content: [block(text)] }),
  'domain/gateway/tool-result.ts#textOf': (text) =>
    textOf({ content: [block(text), block(text)], isError: true, raw: {} }),
  'domain/gateway/tool-result.ts#toPlainResult': (text) =>
    toPlainResult({ content: [block(text)], isError: false, raw: {} }),
  'domain/gateway/tool-search.ts#findTools': (text) => findTools([tool('a', text), tool(text)], text),
  'domain/gateway/call-origin.ts#traceContextOf': (text) => traceContextOf({ traceparent: text, baggage: text }),
  'domain/gateway/unique-names.ts#exposedNames': (text) => exposedNames([tool(text), tool('a')], ['notes', 'a']),
  'domain/gateway/unique-names.ts#functionNames': (text) => functionNames([tool(text), tool('a')]),
  'domain/gateway/unique-names.ts#mayHaveHash': mayHaveHash,
  'domain/gateway/unique-names.ts#toolsByName': (text) =>
    toolsByName({ tools: [tool(text)], changed: [tool('a')], servers: [{ name: 'notes' }] }),
  'domain/grounded/own-source.ts#callName': (text) => callName({ server: 'notes', name: text }),
  'domain/grounded/own-source.ts#resolveMarkers': (text) => [
    resolveMarkers(text, [SOURCE]),
    resolveMarkers(text.replaceAll('a', '\uE200cite\uE202turn0tool0'), [SOURCE]),
  ],
  'domain/grounded/own-source.ts#sourcesOf': (text) =>
    sourcesOf({ content: [link(text)], isError: false, raw: {} }, 'notes/read', 0, known),
  'domain/grounded/own-source.ts#withoutFileUris': (text) => withoutFileUris(`file:///${text}`, [SOURCE]),
  'domain/grounded/own-source.ts#withoutLocalPath': (text) => withoutLocalPath({ ...SOURCE, url: text }),
  'domain/grounded/tool-output.ts#toErrorOutput': toErrorOutput,
  'domain/grounded/tool-output.ts#toProblemOutput': toProblemOutput,
  'domain/grounded/tool-output.ts#toToolOutput': (text) =>
    toToolOutput(
      { content: [block(text), link(text)], isError: false, raw: {} },
      { call: 'notes/read', sources: [SOURCE] },
      MAX,
      known,
    ),
  'domain/values/certificate-problem.ts#reasonOf': (text) => reasonOf(new Error(text)),
  'domain/values/clean-text.ts#cleanLine': cleanLine,
  'domain/values/clean-text.ts#cleanText': cleanText,
  'domain/values/clean-text.ts#clip': (text) => clip(text, text.length - 1),
  'domain/values/clean-text.ts#shortLine': (text) => shortLine(text, 300),
  'domain/values/clean-text.ts#withoutEnd': (text) => withoutEnd(text, /\s/),
  'domain/values/clean-text.ts#withoutTracking': withoutTracking,
  'domain/values/clean-text.ts#withoutUnsafeCharacters': withoutUnsafeCharacters,
  'domain/values/code-fence.ts#closeFence': closeFence,
  'domain/values/code-fence.ts#fencedLines': (text) => [
    fencedLines(text.split('\n')),
    fencedLines(['```', text, '```']),
  ],
  'domain/values/clean-text.ts#toErrorLine': (text) => [toErrorLine(text), toErrorLine(`Error: a at ${text}`)],
  'domain/values/exact-number.ts#withExactNumbers': (text) => {
    const json = JSON.stringify([text]).replace(']', ',1e400]');
    return withExactNumbers(json, JSON.parse(json));
  },
  'domain/values/exact-number.ts#mayBeInexact': mayBeInexact,
  'domain/values/exact-number.ts#toJsonText': (text) => toJsonText([text, new ExactNumber('1e400')]),
  'domain/values/published-date.ts#publishedOn': (text) =>
    publishedOn({ jsonLd: [text], article: [text], citation: [text], time: [text] }, '2026-01-01'),
  'domain/values/redaction.ts#createRedactor': (text) =>
    [redactor.anywhere, redactor.known, redactor.inLogs].map((redact) => redact(text)),
  'domain/values/redaction.ts#looksLikeKey': looksLikeKey,
  'domain/values/redaction.ts#redactedJson': (text) => redactedJson({ text }, known),
  'domain/values/redaction.ts#redactedValue': (text) => redactedValue({ text }, known),
  'domain/values/redaction.ts#withoutKeyLike': withoutKeyLike,
  'domain/values/terminal-style.ts#styled': (text) => styled('bold', text, true),
  'domain/values/terminal-style.ts#styledLines': (text) => styledLines(text.split('\n')),
  'adapters/inbound/cli/terminal-lines.ts#wrapped': (text) => wrapped(text, 80),
  'domain/values/web-url.ts#decoded': decoded,
  'domain/values/web-url.ts#isOnHost': (text) => isOnHost(`https://${text}`, ['a.com']),
  'domain/values/web-url.ts#isTooLong': isTooLong,
  'domain/values/web-url.ts#isUnusable': isUnusable,
  'domain/values/web-url.ts#isWebUrl': isWebUrl,
  'domain/values/web-url.ts#toHostName': toHostName,
  'domain/values/web-url.ts#toWebUrl': (text) => toWebUrl(`https://a.com/${text}`),
  'domain/values/web-url.ts#withoutUserInfo': withoutUserInfo,
};

/** Functions beside patterns that read no text of others, or only one that a bound keeps short, with the reason. */
export const OTHERS: readonly (readonly [names: readonly string[], reason: string])[] = [
  [
    [
      'domain/evidence/dates.ts#',
      'domain/evidence/fractions.ts#',
      'domain/evidence/number-words.ts#',
      'domain/evidence/numerals.ts#numeralsIn',
      'domain/evidence/scaled-tables.ts#',
      'domain/evidence/times.ts#',
      'domain/evidence/years.ts#',
    ],
    'parts of figureIndex, which is above',
  ],
  [['domain/evidence/labels.ts#', 'domain/evidence/figures.ts#hasFigures'], 'parts of missingFigures, which is above'],
  [['adapters/inbound/html.ts#'], 'values of the configuration, and texts that the bound of a page keeps short'],
  [
    ['wiring/', 'adapters/outbound/config/', 'adapters/outbound/files/', 'adapters/outbound/network/'],
    'the configuration',
  ],
  [['adapters/inbound/cli/', 'adapters/inbound/words/'], 'what a person typed, and messages of bounded parts'],
  [['adapters/inbound/http/page/'], 'the page reads texts in the browser of the person who asked for them'],
  [
    ['adapters/inbound/http/', 'adapters/inbound/stdio/', 'adapters/inbound/mcp/'],
    'methods, headers and names: Node.js limits headers to 16 KiB, and the functions above read the texts',
  ],
  [
    ['adapters/inbound/answer-markdown.ts#'],
    'marked reads answers of the model, which the limit of their length bounds',
  ],
  [
    ['adapters/outbound/texts/'],
    'micromark and htmlparser2 read checked texts in a thread that ends after 5 s; what they find is read by the functions above',
  ],
  [['adapters/inbound/schema-fields.ts#'], 'schemas of configured servers, whose patterns read single words'],
  [['adapters/outbound/openai/'], 'replies of the API; their texts are read by the functions above'],
  [
    ['adapters/outbound/login/', 'adapters/outbound/oauth/'],
    'documents of issuers that are configured, of bounded size',
  ],
  [
    ['adapters/outbound/mcp-client/', 'adapters/outbound/definitions/'],
    'frames of servers; their texts are read by the functions above',
  ],
  [['adapters/outbound/logger/'], 'lines of this program'],
  [['adapters/outbound/pages/'], 'requests; the texts of pages are read by the functions above'],
  [['application/'], 'a use case, which calls the functions above'],
  [
    ['domain/answers/model-profile.ts#', 'domain/gateway/own-command.ts#', 'domain/gateway/call-origin.ts#'],
    'the configuration',
  ],
  [
    [
      'domain/answers/answer-handle.ts#toHandle',
      'domain/grounded/own-source.ts#markerOf',
      'domain/gateway/unique-names.ts#uniqueNames',
      'domain/answers/citation.ts#dead',
      'domain/answers/question.ts#isToolName',
    ],
    'texts that this program has made',
  ],
  [['domain/values/redaction.ts#keyProblem', 'domain/values/redaction.ts#isSendableKey'], 'the API key'],
  [
    [
      'domain/gateway/gateway-tool.ts#',
      'domain/gateway/member-forms.ts#',
      'domain/gateway/served-result.ts#',
      'domain/gateway/shared-entries.ts#',
      'domain/gateway/tool-result.ts#parseTextJson',
      'domain/gateway/tool-result.ts#toBlocks',
      'domain/gateway/tool-result.ts#toContentBlock',
      'domain/gateway/tool-result.ts#textIn',
      'domain/gateway/tool-result.ts#withResourceUri',
      'domain/values/certificate-problem.ts#',
      'domain/values/exact-number.ts#',
    ],
    'members of objects, without patterns; those with patterns are above',
  ],
  [['domain/evidence/passages.ts#pageAt'], 'numbers'],
];
