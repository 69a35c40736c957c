/** Whether a terminal opens links (OSC 8), by the rules of the package `supports-hyperlinks`. A terminal that is not known shows none. */
export function supportsHyperlinks(environment: NodeJS.ProcessEnv): boolean {
  const { TERM_PROGRAM = '', TERM_PROGRAM_VERSION = '', TERM = '', FORCE_HYPERLINK, VTE_VERSION } = environment;
  if (FORCE_HYPERLINK) return FORCE_HYPERLINK !== '0';
  if (environment.WT_SESSION) return true;
  // tmux and screen also inherit the variables of the terminal in which they were started.
  if (environment.CI || /^(?:tmux|screen)/.test(TERM)) return false;
  const since = SINCE[TERM_PROGRAM];
  const [major = 0, minor = 0] = TERM_PROGRAM_VERSION.split('.').map((part) => Number.parseInt(part, 10));
  if (since !== undefined) return major > since[0] || (major === since[0] && minor >= since[1]);
  // Such as 7600; 0.50.0 crashed.
  if (VTE_VERSION) return Number(VTE_VERSION) > 5000;
  return /^(?:ghostty|zed|WarpTerminal)$/.test(TERM_PROGRAM) || /^(?:alacritty|xterm-kitty)$/.test(TERM);
}

/** The first versions that open links. */
const SINCE: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  'iTerm.app': [3, 1],
  WezTerm: [20_200_620, 0],
  vscode: [1, 72],
};

/** Node.js knows the variables that say whether there are styles, such as NO_COLOR and TERM. */
export function terminalLook(stdout: typeof process.stdout) {
  const hasStyles = stdout.hasColors();
  return { columns: stdout.columns || 80, hasStyles, hasHyperlinks: hasStyles && supportsHyperlinks(process.env) };
}
