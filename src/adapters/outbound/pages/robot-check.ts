/** A page that only checks who visits says little else. */
const MAX_CHARS = 1500;
/** How such pages say what they do, with the status 200. */
const CHECKS = [
  /\b(?:verify|verifying|confirm|prove|checking|making sure)\b.{0,40}\b(?:(?:you|you're|we're|visitor)\b.{0,20}\b(?:human|person|robots?|bots?)|your browser|site connection is secure)\b/i,
  /\bare you (?:a )?(?:robot|human)\b|\bnot a (?:robot|bot)\b|\brobot check\b/i,
  /\benable (?:javascript and cookies|cookies and javascript)\b|\bunusual (?:traffic|activity) from your\b|\bcomplete the (?:security check|captcha)\b/i,
  /\bincapsula incident id\b|\bcloudflare ray id\b|\bddos protection by\b/i,
  /(?:人間|ロボット|ボット)(?:である|でない|ではない)(?:こと|か)(?:を|どうか)|ブラウザを確認(?:して|中)/,
];

/** Whether the text of a page asks whether a person visits it, in place of the page. */
export function isRobotCheck(visible: string): boolean {
  if (visible.length > MAX_CHARS) return false;
  const text = visible.replace(/\s+/g, ' ').replaceAll('’', "'");
  return CHECKS.some((check) => check.test(text));
}
