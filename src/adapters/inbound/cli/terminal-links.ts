import { pageKey } from '../../../domain/answers/citation.ts';

/** Terminals ignore a longer link. */
const MAX_LINK = 2000;

/** The links of a text. Where the terminal does not open them (`canOpen`), they have numbers, one for each page. */
export class TerminalLinks {
  readonly #canOpen: boolean;
  /** The numbers of pages, and the URLs that had them first, in their order. */
  readonly #numbers = new Map<string, number>();
  readonly #urls: string[] = [];
  readonly #shown = new Set<string>();

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
    const number = this.numberOf(url) ?? this.#urls.push(url);
    this.#numbers.set(pageKey(url), number);
    return number;
  }

  /** The number that a page has in the text. */
  numberOf(url: string): number | undefined {
    return this.#numbers.get(pageKey(url));
  }

  get hasNumbers(): boolean {
    return this.#urls.length > 0;
  }

  /** The text shows this URL as it is. */
  addShown(url: string): void {
    this.#shown.add(pageKey(url));
  }

  /** The pages with numbers whose URLs the text does not show. */
  unlisted(): readonly string[] {
    return this.#urls.flatMap((url, index) => (this.#shown.has(pageKey(url)) ? [] : `[${index + 1}] ${url}`));
  }
}
