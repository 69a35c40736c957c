import { grounded } from '../grounded/clean.ts';

export const planted = grounded;
