export const load = () => import('./imports-cycle-back.ts');
