/** The blocks of code, with their languages. */
export function fencesOf(markdown: string): readonly { readonly language: string; readonly code: string }[] {
  return [...markdown.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map(([, , language = '', code = '']) => ({
    language,
    code,
  }));
}

/** The text without its blocks of code. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '');
}

/** The number of cells of each row of each table. */
export function tablesOf(markdown: string): readonly (readonly number[])[] {
  return [...proseOf(markdown).matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
    table
      .trim()
      .split('\n')
      .map((row) => row.split(/(?<!\\)\|/).length),
  );
}

/** The anchors that GitHub gives to the headings. */
export function anchorsOf(markdown: string): readonly string[] {
  return [...proseOf(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
