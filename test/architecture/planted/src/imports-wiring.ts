import { mode } from './wiring/stdio.ts';

export const imported = mode;
