import { main } from '../../main.ts';
export const planted = main;
