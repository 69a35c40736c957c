import { type AccessPolicy, rightsBy } from '../../domain/gateway/access.ts';
import { EVERYTHING, type Rights, withoutAnswers } from '../../domain/gateway/call-origin.ts';
import type { TokenOwner } from '../ports/token-verifier.ts';

type RightsOf = (owner: TokenOwner) => Rights;

interface Offer {
  /** Whether answers are offered at all. */
  readonly hasAnswers: boolean;
  /** The tools of the program that are offered without answers. */
  readonly otherTools: readonly string[];
}

/** What callers may use, by the section `access` as it is now. */
export class CallerRights {
  readonly #offer: Offer;
  #policy: AccessPolicy | undefined;
  #rightsOf: RightsOf;

  constructor(policy: AccessPolicy | undefined, offer: Offer) {
    this.#offer = offer;
    this.#policy = policy;
    this.#rightsOf = toRights(policy, offer);
  }

  get policy(): AccessPolicy | undefined {
    return this.#policy;
  }

  readonly of: RightsOf = (owner) => this.#rightsOf(owner);

  /** Applies another section `access`, or none. */
  apply(policy: AccessPolicy | undefined): void {
    this.#rightsOf = toRights(policy, this.#offer);
    this.#policy = policy;
  }
}

function toRights(policy: AccessPolicy | undefined, { hasAnswers, otherTools }: Offer): RightsOf {
  const rightsOf = policy === undefined ? () => EVERYTHING : rightsBy(policy);
  return hasAnswers ? rightsOf : (owner) => withoutAnswers(rightsOf(owner), otherTools);
}
