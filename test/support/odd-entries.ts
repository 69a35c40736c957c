import * as fc from 'fast-check';

/** Values that servers write in place of what MCP specifies. */
const ODD = fc.oneof(
  fc.constantFrom(null, true, false, '', 'a text', 0, -1, 1.5, [], {}, [null], [{}], { a: null }),
  fc.jsonValue({ maxDepth: 2 }),
);

const or = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.oneof({ arbitrary: value, weight: 3 }, ODD);
const record = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] });
const dictionary = (of: fc.Arbitrary<unknown>) => fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'type'), of);

const META = or(fc.constant({ 'a/b': null }));
const NAME = or(fc.constantFrom('one', 'two', 'x'.repeat(300), '日本', '__proto__'));
const TEXT = or(fc.string());
const ICONS = or(fc.array(or(record({ src: TEXT, mimeType: TEXT, sizes: or(fc.array(TEXT)), theme: TEXT }))));
const ANNOTATIONS = or(
  record({
    audience: or(fc.array(or(fc.constantFrom('user', 'assistant', 'system')))),
    priority: or(fc.double()),
    lastModified: or(fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00', '2026-02-30T00:00:00Z', 'now')),
  }),
);
const HINTS = record({ title: TEXT, readOnlyHint: or(fc.boolean()), destructiveHint: ODD, openWorldHint: ODD });

const { schema: SCHEMA } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(true, false, null, {}, { type: 'string' }, { default: null, enum: [null] }, { minimum: 1 }),
    record({
      $schema: TEXT,
      type: or(fc.constantFrom('object', 'OBJECT', 'array', ['object', 'null'])),
      properties: or(dictionary(tie('schema'))),
      required: or(fc.array(or(fc.constantFrom('a', 'b')))),
      items: tie('schema'),
      anyOf: or(fc.array(tie('schema'))),
      additionalProperties: tie('schema'),
      description: TEXT,
    }),
  ),
}));

const ENTRY = { name: NAME, title: TEXT, description: TEXT, icons: ICONS, _meta: META, other: ODD };
const RESOURCE = { ...ENTRY, uri: TEXT, uriTemplate: TEXT, mimeType: TEXT, size: ODD, annotations: ANNOTATIONS };

/** Entries of lists, of which nearly all are wrong somewhere. */
export const oddTool = or(
  record({ ...ENTRY, inputSchema: SCHEMA, outputSchema: SCHEMA, annotations: or(HINTS), execution: ODD }),
);
export const oddPrompt = or(
  record({ ...ENTRY, arguments: or(fc.array(or(record({ name: NAME, description: TEXT, required: ODD })))) }),
);
export const oddResource = or(record(RESOURCE));

const CONTENTS = or(
  record({ uri: TEXT, mimeType: TEXT, text: TEXT, blob: or(fc.constantFrom('AAAA', 'A', '&')), _meta: META }),
);
const BLOCK = or(
  record({
    ...RESOURCE,
    type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'video', null),
    text: TEXT,
    data: or(fc.constantFrom('AAAA', 'AA==', 'AA\nAA', 'A', 'data:image/png;base64,AAAA')),
    resource: CONTENTS,
  }),
);

/** Results, of which nearly all are wrong somewhere. */
export const oddResult = record({
  content: or(fc.array(BLOCK, { maxLength: 4 })),
  structuredContent: ODD,
  isError: ODD,
  _meta: META,
  other: ODD,
});
export const oddPromptResult = record({
  description: TEXT,
  messages: or(fc.array(or(record({ role: or(fc.constantFrom('user', 'assistant')), content: or(BLOCK) })))),
  _meta: META,
});
export const oddContents = record({ contents: or(fc.array(CONTENTS)), _meta: META, ttlMs: ODD, cacheScope: ODD });
export const oddCompletion = record({
  completion: or(record({ values: or(fc.array(TEXT, { maxLength: 150 })), total: ODD, hasMore: ODD })),
  _meta: META,
});
