const MAX_LENGTH = 80;

/** The start of a text that is repeated in a message: a client that does not read it must not fill the memory. */
export function excerpt(text: string): string {
  // A character has at most two units.
  const characters = [...text.slice(0, 2 * MAX_LENGTH + 2)];
  return characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH).join('')}…` : text;
}
