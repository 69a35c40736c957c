import type { CitationCheck } from '../../domain/answers/citation.ts';
import type { ModelProfiles } from '../../domain/answers/model-profile.ts';
import type { ModelPrice } from '../../domain/answers/prices.ts';
import type { SearchDefaults, ToolName } from '../../domain/answers/question.ts';

/** The part of the configuration that the core uses, in its sections. */
export interface Config {
  readonly request: {
    /** Time limit of a complete call, waits included, in milliseconds. */
    readonly timeoutMs: number;
  };
  readonly search: { readonly defaults: SearchDefaults };
  readonly policy: {
    /** Maximum number of citations in an answer, 1 to 10. */
    readonly maxCitations: number;
  };
  readonly server: {
    /** Maximum length of an answer, sources included, in UTF-16 code units. */
    readonly maxAnswerChars: number;
  };
  readonly citations: {
    /** Whether dates of publication are read from cited pages. */
    readonly resolveDates: boolean;
    /** How far cited pages are checked. */
    readonly check: CitationCheck;
  };
  readonly profiles: ModelProfiles;
  /** The IANA time zone of days: today, and the day of access. */
  readonly timeZone: string;
  /** Hosts whose pages are never cited, with their subdomains, in Unicode and in ASCII. */
  readonly blockedDomains: readonly string[];
  /** The policy that replaces the built-in system policy. */
  readonly instructions?: string;
  /** The price of a model; undefined if it is not known. */
  readonly priceOf?: (model: string) => ModelPrice | undefined;
  /** Absent if no tool has answers that take minutes. */
  readonly longAnswers?: LongAnswersConfig;
}

/** Answers that take minutes. */
interface LongAnswersConfig {
  /** The tools whose questions may take long; at least one. */
  readonly tools: readonly ToolName[];
  /** How long, in milliseconds, the same question follows the same response. */
  readonly keepMs: number;
}

/** One problem in the configuration. */
export interface ConfigProblem {
  /** The path of a key (`request.timeout_ms`), the name of a variable (`MAX_CITATIONS`), an option or a file. */
  readonly where: string;
  /** The received value, with secrets masked. */
  readonly value?: string;
  /** What is wrong or expected: `expected an integer from 1 to 10`. */
  readonly message: string;
  readonly file?: string;
  /** The servers that it concerns; empty for all of them. Absent if it is not about servers. */
  readonly servers?: readonly string[];
}

/** A valid value, or every problem. A plain union, so that the start loads no package for it. */
export type Validated<T> = { readonly value: T } | { readonly problems: readonly ConfigProblem[] };
