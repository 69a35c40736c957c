import type { Clean } from '../../application/clean.ts';
export const clean: Clean | undefined = undefined;
