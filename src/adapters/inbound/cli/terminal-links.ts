import { pageKey } from '../../../domain/citation.ts';
import type { LinkStyle } from './inline-markdown.ts';

/** Terminals ignore a longer link. */
const MAX_LINK = 2000;

/** The links of a text. Where the terminal does not open them, they have numbers, one for each page. */
export class TerminalLinks {
  readonly #canOpen: boolean;
  readonly #numbered = new Map<string, { readonly number: number; readonly url: string }>();
  readonly #shown = new Set<string>();

  /** `canOpen`: whether the terminal opens links. */
  constructor(canOpen: boolean) {
    this.#canOpen = canOpen;
  }

  /** In the text: a number follows a link that cannot be opened. */
  readonly inText: LinkStyle = {
    open: (url) => this.#open(url),
    note: (url) => {
      const key = pageKey(url);
      const { number } = this.#numbered.get(key) ?? { number: this.#numbered.size + 1 };
      if (!this.#numbered.has(key)) this.#numbered.set(key, { number, url });
      return `\u00A0[${number}]`;
    },
    onShown: (url) => this.#shown.add(pageKey(url)),
  };

  /** An entry in the list of sources shows its URL. `onUrl` receives the number that it has in the text. */
  inSources(onUrl: (number: number | undefined) => void): LinkStyle {
    const onShown = (url: string) => {
      this.inText.onShown(url);
      onUrl(this.#numbered.get(pageKey(url))?.number);
    };
    const note = (url: string) => {
      onShown(url);
      return `: ${url}`;
    };
    return { open: this.inText.open, note, onShown };
  }

  get hasNumbers(): boolean {
    return this.#numbered.size > 0;
  }

  /** The pages with numbers whose URLs the text does not show. */
  unlisted(): readonly string[] {
    const entries = [...this.#numbered].filter(([key]) => !this.#shown.has(key));
    return entries.map(([, { number, url }]) => `[${number}] ${url}`);
  }

  /** In the form that contains only visible ASCII; undefined for what the terminal would not open. */
  #open(url: string): string | undefined {
    const href = this.#canOpen && URL.canParse(url) ? new URL(url).href : '';
    return href !== '' && href.length <= MAX_LINK ? href : undefined;
  }
}
