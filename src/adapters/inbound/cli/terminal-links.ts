import { pageKey } from '../../../domain/answers/citation.ts';

/** Terminals ignore a longer link. */
const MAX_LINK = 2000;

/** The links of a text. Where the terminal does not open them, they have numbers, one for each page. */
export class TerminalLinks {
  readonly #canOpen: boolean;
  /** The numbers of pages, and the URLs that had them first. */
  readonly #numbered = new Map<string, { readonly number: number; readonly url: string }>();
  readonly #shown = new Set<string>();

  /** `canOpen`: whether the terminal opens links. */
  constructor(canOpen: boolean) {
    this.#canOpen = canOpen;
  }

  /** The link to a URL, of visible ASCII characters only; undefined for what the terminal would not open. */
  hrefOf(url: string): string | undefined {
    const href = this.#canOpen && URL.canParse(url) ? new URL(url).href : '';
    return href !== '' && href.length <= MAX_LINK ? href : undefined;
  }

  /** The number that follows a link in the text. */
  toNumber(url: string): number {
    const known = this.numberOf(url);
    if (known === undefined) this.#numbered.set(pageKey(url), { number: this.#numbered.size + 1, url });
    return known ?? this.#numbered.size;
  }

  /** The number that a page has in the text. */
  numberOf(url: string): number | undefined {
    return this.#numbered.get(pageKey(url))?.number;
  }

  get hasNumbers(): boolean {
    return this.#numbered.size > 0;
  }

  /** The text shows this URL as it is. */
  addShown(url: string): void {
    this.#shown.add(pageKey(url));
  }

  /** The pages with numbers whose URLs the text does not show. */
  unlisted(): readonly string[] {
    const entries = [...this.#numbered].filter(([key]) => !this.#shown.has(key));
    return entries.map(([, { number, url }]) => `[${number}] ${url}`);
  }
}
