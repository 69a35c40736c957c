import type { Readings, TextRequest } from '../../../application/ports/readers.ts';
import { checkedText } from '../../../domain/check/checked-text.ts';
import { claimsFor } from '../../../domain/check/citation-claims.ts';
import { evidenceFor, figuresOn } from '../../../domain/evidence/evidence.ts';
import { quotesOn } from '../../../domain/evidence/quotes.ts';
import { textPieces } from './text-pieces.ts';

/** Answers a request, in the thread of the text. */
export function readText({ reading, input }: TextRequest): unknown {
  const read: (...input: never[]) => unknown = READINGS[reading];
  return read(...(input as never[]));
}

/** Packages that only reading needs are imported here, so that they are bundled into the thread alone. */
const READINGS: Readings = {
  links: (text) => checkedText(text, textPieces(text)),
  figures: figuresOn,
  quotes: quotesOn,
  evidence: (answer, url, page) => evidenceFor(claimsFor(textPieces(answer), url), page),
};
