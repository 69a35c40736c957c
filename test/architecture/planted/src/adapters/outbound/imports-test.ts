import { fake } from '../../../test/support/fake.ts';
export const planted = fake;
