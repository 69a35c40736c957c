import { container } from 'tsyringe';
export const planted = container;
