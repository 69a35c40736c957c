import { compose } from '../../wiring/container.ts';
export const planted = compose;
