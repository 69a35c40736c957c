/** What a page shows: `visible` has parts separated by line breaks, `other` the texts of attributes. */
export interface PageText {
  readonly visible: string;
  readonly other: readonly string[];
  readonly isCut: boolean;
}

export interface Evidence {
  readonly quote?: string;
  readonly missing?: readonly string[];
  readonly unrelated?: true;
}

/** A placeholder. */
export function evidenceFor(_text: string, _url: string, _page: PageText): Evidence | undefined {
  return undefined;
}
