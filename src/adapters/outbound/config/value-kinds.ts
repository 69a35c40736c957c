import { toHostName } from '../../../domain/question.ts';

/** A kind of value: what it accepts, in words, and how it reads YAML's values and a variable's text. */
export interface ValueKind {
  readonly accepted: string;
  /** The value as the program uses it, or undefined where it is not accepted. */
  readonly fromYaml: (value: unknown) => unknown;
  readonly fromText: (text: string) => unknown;
}

export function wholeNumber(min: number, max?: number, unit = ''): ValueKind {
  const fromYaml = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (max === undefined || (value as number) <= max)
      ? value
      : undefined;
  const words = max === undefined ? `a whole number${unit} from ${min}` : `a whole number from ${min} to ${max}`;
  return {
    accepted: words,
    fromYaml,
    fromText: (text) => (/^[+-]?\d+$/.test(text) ? fromYaml(Number(text)) : undefined),
  };
}

export function oneOf(choices: readonly string[]): ValueKind {
  const read = (value: unknown) => choices.find((choice) => choice === value);
  return { accepted: `one of ${choices.join(', ')}`, fromYaml: read, fromText: (text) => read(text.toLowerCase()) };
}

export function text(accepted: string, pattern = /\S/): ValueKind {
  const read = (value: unknown) => (typeof value === 'string' && pattern.test(value) ? value.trim() : undefined);
  return { accepted, fromYaml: read, fromText: read };
}

export const flag: ValueKind = {
  accepted: 'true or false',
  fromYaml: (value) => (typeof value === 'boolean' ? value : undefined),
  fromText: (text) => (/^(?:1|true)$/i.test(text) ? true : /^(?:0|false)$/i.test(text) ? false : undefined),
};

/** A URL to which paths can be appended: no user, password, query or fragment. */
export const baseUrl: ValueKind = {
  accepted: 'an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
  fromYaml: readBaseUrl,
  fromText: readBaseUrl,
};

export const hostNames: ValueKind = {
  accepted: 'a list of host names, such as [jma.go.jp, tenki.jp]',
  fromYaml: (value) => {
    if (!Array.isArray(value)) return undefined;
    const hosts = value.map((entry) => (typeof entry === 'string' ? toHostName(entry) : undefined));
    return hosts.every((host) => host !== undefined) ? [...new Set(hosts)] : undefined;
  },
  fromText: () => undefined,
};

function readBaseUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' && URL.canParse(value.trim()) ? new URL(value.trim()) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    ? url.href.replace(/\/$/, '')
    : undefined;
}
