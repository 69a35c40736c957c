export const planted = () => import('../outbound/clean.ts');
