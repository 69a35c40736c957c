import { planted } from '../gateway/imports-grounded.ts';

export const value = planted;
