import { DEFAULTS, toConfigTree } from './config-tree.ts';
import { KEYS } from './keys.ts';

// The build replaces this module by the values of its exports, so that the start need not load the table of keys.

/** The configuration if no key is set. */
export const DEFAULT_CONFIG = toConfigTree(DEFAULTS);

/** The environment variables that set a key. */
export const KEY_VARIABLES: readonly string[] = [...new Set(KEYS.flatMap(({ variable }) => variable ?? []))];
