/** Escapes a text for HTML, also for the value of an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** HTML in which the values are escaped, unless they are HTML of this program. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  const shown = values.map((value) => (value instanceof Html ? value.text : escapeHtml(value ?? '')));
  return new Html(parts.map((part, index) => part + (shown[index] ?? '')).join(''));
}
