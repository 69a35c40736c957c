export function findBrowser(env?: { readonly CHROME?: string; readonly PATH?: string }): string | undefined;
