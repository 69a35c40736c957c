export const OUTPUT: string;
export function answerTo(text: string): string | undefined;
