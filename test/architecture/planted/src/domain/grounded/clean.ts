export const grounded = 'grounded';
