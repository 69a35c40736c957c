interface Challenge {
  /** In lower case; empty if the header begins with a parameter. */
  readonly scheme: string;
  /** By their names in lower case. Of two with the same name, the first counts. */
  readonly parameters: Map<string, string>;
}

/** What a server demands with its challenges; an empty parameter is absent. */
export interface Demand {
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
  readonly error?: string | undefined;
}

const TOKEN = /[\w!#$%&'*+.^`|~-]+/y;
/** Ends at a comma or at the end of the header; otherwise, its first part is the name of a parameter. */
const TOKEN68 = /[ \t]+[\w.~+/-]+=*(?=[ \t]*(?:,|$))/y;
const EQUALS = /[ \t]*=[ \t]*/y;
/** Without a second quotation mark, the text goes to the end of the header. */
const QUOTED = /"((?:[^"\\]|\\.)*)(?:"|\\?$)/sy;
/** More than a token, because URLs are written without quotation marks, too. */
const UNQUOTED = /[^\s,"]*/y;
/** A separator, or what belongs to no challenge. */
const OTHER = /"(?:[^"\\]|\\.)*"?|./sy;

/** Schemes whose `scope` and `error` are those of an access token. */
const OF_TOKENS: readonly string[] = ['bearer', 'dpop'];

/** Reads the header `WWW-Authenticate` of a response. Any scheme may name the metadata of the resource (RFC 9728, 5.1). */
export function demandIn(header: string | null): Demand {
  const challenges = readChallenges(header ?? '');
  const ofTokens = challenges.filter(({ scheme }) => OF_TOKENS.includes(scheme));
  const first = (among: readonly Challenge[], name: string) =>
    among.map(({ parameters }) => parameters.get(name)?.trim()).find(Boolean);
  const url = first([...ofTokens, ...challenges], 'resource_metadata');
  return {
    resourceMetadataUrl: url !== undefined && URL.canParse(url) ? new URL(url) : undefined,
    scope: first(ofTokens, 'scope'),
    error: first(ofTokens, 'error'),
  };
}

/** The challenges of a header, which may be several that `Headers` has joined by commas (RFC 9110, 11.6.1). What its grammar does not permit is passed over. */
function readChallenges(header: string): readonly Challenge[] {
  const challenges: Challenge[] = [];
  let position = 0;
  const take = (form: RegExp) => {
    form.lastIndex = position;
    const found = form.exec(header);
    position += found?.[0].length ?? 0;
    return found;
  };
  const begin = (scheme: string) => {
    const challenge = { scheme, parameters: new Map<string, string>() };
    challenges.push(challenge);
    return challenge;
  };
  while (position < header.length) {
    const word = take(TOKEN)?.[0].toLowerCase();
    if (word === undefined) take(OTHER);
    else if (take(EQUALS) === null) {
      begin(word);
      take(TOKEN68);
    } else {
      const quoted = take(QUOTED)?.[1]?.replace(/\\(.)/gs, '$1');
      const value = quoted ?? take(UNQUOTED)?.[0] ?? '';
      const { parameters } = challenges.at(-1) ?? begin('');
      if (!parameters.has(word)) parameters.set(word, value);
    }
  }
  return challenges;
}

/** The scopes in a text, separated by blanks (RFC 6749, 3.3). */
export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}
