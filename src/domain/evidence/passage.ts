/** A passage of a page as it is shown, and the number of its page in a PDF. */
export interface Passage {
  readonly text: string;
  readonly page?: number;
}

/** The number of the page of a PDF at an index of its text; undefined for a text without pages. `starts`: the indexes at which pages begin. */
export function pageAt(index: number, starts: readonly number[] | undefined): number | undefined {
  return starts?.filter((start) => start <= index).length;
}
