import { setTimeout } from 'node:timers/promises';
export const planted = setTimeout;
