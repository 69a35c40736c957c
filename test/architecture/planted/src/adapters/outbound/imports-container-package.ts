import 'reflect-metadata';
export const planted = true;
