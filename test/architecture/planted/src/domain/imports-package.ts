import { parse } from 'yaml';
export const planted = parse;
