/** A text with its control characters shown as escapes: a terminal obeys those that come from outside. */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
