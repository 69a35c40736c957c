import { Parser } from 'htmlparser2';
import { MAX_EXAMINED } from '../../../domain/values/clean-text.ts';

/** A text as a person would read it: of a page, what it shows. */
export function shownText(text: string): string {
  // Time grows with the square of the depth of a page, and a proxy's page is short.
  const examined = text.trim().slice(0, MAX_EXAMINED / 2);
  return isPage(examined) ? textOfPage(examined) : examined;
}

/** What a page of a proxy shows or, if it shows nothing, its title. */
function textOfPage(page: string): string {
  const texts = { shown: '', title: '', script: '', style: '' };
  let part: keyof typeof texts = 'shown';
  const parser = new Parser({
    onopentagname: (name) => {
      part = name === 'title' || name === 'script' || name === 'style' ? name : 'shown';
    },
    ontext: (text) => {
      texts[part] += text;
    },
    onclosetag: () => {
      part = 'shown';
      texts.shown += '\n';
    },
  });
  parser.end(page);
  const lines = texts.shown.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n') || texts.title.trim();
}

/** Whether a text is a page of HTML. */
export function isPage(text: string): boolean {
  return /^\s*<(?:!doctype|!--|html|head|body|center|h1)/i.test(text);
}
