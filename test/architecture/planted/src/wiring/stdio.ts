export const mode = 'stdio';
