/** The days on which pages were published, as the pages themselves say (ruling A15). */
export interface PageDates {
  /**
   * The day, `YYYY-MM-DD`, of each page that says it, by URL. Settles within a few seconds and soon after `signal` aborts; never rejects: a
   * page that cannot be read has no date.
   */
  publishedOn(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
}
