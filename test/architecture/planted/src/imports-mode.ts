import { mode } from './modes/stdio.ts';

export const imported = mode;
