export interface TerminalColors {
  readonly back: string;
  readonly line: string;
  readonly dots: string;
  readonly command: string;
  readonly code: string;
  readonly text: string;
}
export const LOOK: { readonly columns: number; readonly hasStyles: boolean; readonly hasHyperlinks: boolean };
/** By the first part of the name of the file. */
export const QUESTIONS: Readonly<Record<string, string>>;
export const THEMES: Readonly<Record<'light' | 'dark', TerminalColors>>;
export function terminalImage(question: string, output: string, colors: TerminalColors): string;
