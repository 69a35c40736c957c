import { compose } from '../../container.ts';
export const planted = compose;
