/** Compiled when first needed: these classes would take milliseconds at the start. */
function compile() {
  // Joiners: U+200C and U+200D, the vowel separator of Mongolian, and the line breaks of scripts without spaces.
  const joiners = '\\u180E\\u200B-\\u200D';
  // They choose the look of the character before them.
  const selectors = '\\u180B-\\u180D\\u180F\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}';

  // The flags of England, Scotland and Wales, the only use of tag characters.
  const flags =
    '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}';

  // Scripts in which a joiner changes the shape of a letter. Marks belong to several scripts, hence `scx`.
  const joiningScripts =
    'Adlm Arab Bali Beng Cakm Deva Gujr Guru Java Khmr Knda Mand Mlym Mong Mymr Newa Nkoo Orya Phag Rohg Sinh Syrc Taml Telu Tibt';
  const joiningLetter = `(?=[\\p{L}\\p{M}])[${joiningScripts.replace(/(\w+) ?/g, '\\p{scx=$1}')}]`;

  // The characters before and after which a joiner or a selector has a use.
  const uses = [
    '(?![0-9#*])\\p{Emoji}[\\uFE0E\\uFE0F]',
    '[0-9#*]\\uFE0F\\u20E3',
    '\\p{scx=Hani}[\\uFE00-\\uFE02\\u{E0100}-\\u{E01EF}]',
    '[\\u2018-\\u201D\\uFF01\\uFF0C\\uFF0E\\uFF1A\\uFF1B\\uFF1F][\\uFE00\\uFE01]',
    '(?:(?![ -~])\\p{Sm}|\\p{sc=Mymr}|\\p{sc=Phag})\\uFE00',
    '\\p{sc=Mong}[\\u180B-\\u180F]',
    '[\\p{sc=Khmr}\\p{sc=Laoo}\\p{sc=Mymr}\\p{sc=Thai}]\\u200B',
    `${joiningLetter}[\\u200C\\u200D]`,
    // Also between a word in Latin letters and its ending.
    `.?[\\u200C\\u200D]${joiningLetter}`,
    '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\u200D\\p{Extended_Pictographic}',
  ];

  return {
    // Unicode's characters without a glyph, and those that arrange hieroglyphs.
    useless: new RegExp(`(${flags})|(?![${joiners}${selectors}])\\p{DI}|[\\u{13430}-\\u{1343F}]`, 'gu'),
    runs: new RegExp(`[${joiners}${selectors}]+`, 'gu'),
    joiner: new RegExp(`[${joiners}]`, 'u'),
    useful: new RegExp(`^(?:${uses.join('|')})`, 'su'),
  };
}

let rules: ReturnType<typeof compile> | undefined;

/**
 * A text without characters that have no visible effect where they are: a person does not see what is written in them, but a
 * model reads it. Of a run of joiners and selectors, at most one selector and one joiner remain, each only where a script or an emoji
 * uses it. A blank of Braille becomes a space. Expects a well-formed text.
 */
export function withoutHiddenCharacters(text: string): string {
  rules ??= compile();
  const { useless, runs, joiner, useful } = rules;
  const visible = text.replace(useless, '$1').replaceAll('\u2800', ' ');
  return visible.replace(runs, (run, offset: number) => {
    const before = [...visible.slice(Math.max(0, offset - 2), offset)].at(-1) ?? '';
    const [after = ''] = visible.slice(offset + run.length, offset + run.length + 2);
    const [first = ''] = run;
    const candidates = joiner.test(first) ? [first] : [first, joiner.exec(run)?.[0] ?? ''];
    return candidates.filter((character) => useful.test(`${before}${character}${after}`)).join('');
  });
}
