import { load } from './imports-cycle.ts';
export const loader = load;
