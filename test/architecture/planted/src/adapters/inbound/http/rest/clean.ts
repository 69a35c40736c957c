export type clean = true;
