import { answer } from '../answers/clean.ts';

export const planted = answer;
