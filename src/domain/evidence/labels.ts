const PLURAL =
  '(?:pp?\\.?|pages|sections|chapters|figures|tables|items|steps|notes|slides|paragraphs|appendices|§{1,2})';
const SINGULAR =
  '(?:page|section|sec\\.|chapter|chap\\.|figure|fig\\.|figs\\.|table|item|step|note|appendix|annex|footnote|endnote|slide|paragraph|para\\.|exhibit|equation|eq\\.|column|row)';
/** The name of a part of a text before its number. A plural has further numbers. */
const ENGLISH = new RegExp(
  `(?<![a-z])(?:${PLURAL} ?(?:\\d[\\d.]{0,9} ?(?:-|,? ?and|,|&|to) ?){0,4}|${SINGULAR} (?:no\\. ?)?(?:\\d[\\d.]{0,9} ?- ?)?)$`,
);
const JAPANESE = /(?<!\p{Script=Han})[図表注] ?$/u;
const PART = /^ ?[章節項条部編図表]/;
const PAGE = /^ ?(?:ページ|頁)(?:目|に|を?参照|から|[)。、]|$)/;
const MAX_BEFORE = 60;

/** Whether the number at a place of a folded text is the label of a part of a text, such as page 17 or section 4.2, and no figure. */
export function isLabel(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - MAX_BEFORE), start);
  const after = text.slice(end, end + 10);
  const isPart = /第 ?$/.test(before) && PART.test(after);
  if (isPart || PAGE.test(after) || JAPANESE.test(before)) return true;
  return /[a-z§]/.test(before) && ENGLISH.test(before);
}

/** The authors of a source before the year of its publication: `(Smith & Doe, 2019)`, `Smith et al. (2019)`. */
const AUTHORS =
  /(?:[(;]\s?(?:(?:see|cf\.|e\.g\.,?)\s)?\p{Lu}[\p{L}’'-]{1,30}(?:,?\s(?:and|&|et al\.?|de|van|von|der|\p{Lu}[\p{L}’'-]{1,30}|\p{Lu}\.)){0,8},|\bet al\.,?)\s?\(?$/u;

/** Whether the number at a place of a claim is the year in a reference to a source, as scholars write it. */
export function isPublication(claim: string, start: number, end: number): boolean {
  if (!/^(?:1[5-9]|20)\d\d$/.test(claim.slice(start, end)) || !/^[a-z]?[,;:)]/.test(claim.slice(end, end + 2)))
    return false;
  return AUTHORS.test(claim.slice(Math.max(0, start - 120), start));
}

/** What a reference to a source has before the day on which somebody read it, and what it has after that day. */
const ACCESSED =
  /(?:(?:^|[([,;.] ?)(?:last )?(?:accessed|retrieved|visited|viewed)(?: on)?|(?:アクセス|閲覧|取得|参照|確認)日|最終(?:アクセス|閲覧|確認)):? ?$/;
const ACCESSED_AFTER = /^ ?に?(?:最終)?(?:アクセス|閲覧|取得|参照|確認)(?:$|[)\]」、。])/;

/** Whether the date at a place of a folded text is the day on which somebody read a source. */
export function isAccess(text: string, start: number, end: number): boolean {
  return ACCESSED.test(text.slice(Math.max(0, start - 30), start)) || ACCESSED_AFTER.test(text.slice(end, end + 10));
}
