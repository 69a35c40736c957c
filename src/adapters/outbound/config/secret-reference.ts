import type { ValueReference } from '../../../application/ports/values.ts';
import { matching, type ValueKind, yamlOnly } from './kinds.ts';
import { isOneValue, toValueReference } from './value-references.ts';

/** A secret that the configuration names: a variable, a file or a command. */
export interface SecretReference {
  /** The reference as it is written. */
  readonly written: string;
  readonly source: { readonly kind: 'variable'; readonly name: string } | ValueReference;
}

const REFERENCE_TO_VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** Only a reference to a secret, which is then never in the file. */
export const secretReference: ValueKind<SecretReference> = {
  ...yamlOnly(
    'only a reference: \u0024{NAME} with the name of a variable, \u0024{file:PATH} or \u0024{command:WORDS}',
    { anyOf: [matching(REFERENCE_TO_VARIABLE), matching(/^\$\{(?:file|command):.+\}$/)] },
    (value, { where, folder, report }) => {
      const written = typeof value === 'string' ? value.trim() : '';
      const [, name] = REFERENCE_TO_VARIABLE.exec(written) ?? [];
      if (name !== undefined) return { written, source: { kind: 'variable' as const, name } };
      if (!isOneValue(written)) return undefined;
      const source = toValueReference(written, folder);
      if ('problem' in source) report(where, source.problem);
      return 'problem' in source ? undefined : { written, source };
    },
  ),
  isSecret: true,
};
