/** Longer ones fit nothing: the time of a comparison grows with both lengths. */
const MAX_LENGTH = 2048;
/** Of all templates of a server together, which takes some 50 ms; a usual one takes less than 200. What comes later fits nothing. */
const MAX_STEPS = 150_000;

/** What an expression does not contain, by its operator; others contain no `/`, `?` and `#`. */
const EXCLUDED: Readonly<Record<string, string>> = { '+': '', '#': '', '/': '?#', '?': '#', '&': '#' };

/** Whether a URI may be an expansion of a template (RFC 6570), with any values of its variables. For the templates of one server. */
export function templateTest(uri: string): (template: string) => boolean {
  let left = MAX_STEPS;
  return (template) => {
    // Most templates of a list differ at their beginning.
    const isShort = template.length <= MAX_LENGTH && uri.length <= MAX_LENGTH;
    if (left < 0 || !isShort || !uri.startsWith(template.split('{', 1)[0] ?? '')) return false;
    left -= template.length;
    const parts = [...template.matchAll(/\{([+#./;?&]?)[^{}]+\}|(.)/gsu)].map(([, operator = '', char]) => ({
      char,
      excluded: EXCLUDED[operator] ?? '/?#',
    }));
    // All ways to match are followed at the same time: a RegExp could take exponential time.
    let reached = new Set([0]);
    for (const next of [...uri, undefined]) {
      // An expression may be empty. What is added here is visited, too.
      left -= reached.size;
      if (left < 0) return false;
      for (const part of reached) if (part < parts.length && parts[part]?.char === undefined) reached.add(part + 1);
      if (next === undefined) break;
      const after = [...reached].flatMap((part) => {
        const { char, excluded } = parts[part] ?? { char: '', excluded: '' };
        if (char !== undefined) return char === next ? [part + 1] : [];
        return excluded.includes(next) ? [] : [part];
      });
      reached = new Set(after);
    }
    return reached.has(parts.length);
  };
}
