export const answer = 'answer';
