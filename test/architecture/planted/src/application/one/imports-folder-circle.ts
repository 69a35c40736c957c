import { two } from '../two/clean.ts';

export const planted = two;
