/**
 * The first key that occurs twice in one object of a JSON text, at any depth; JSON.parse silently keeps the last.
 * The text must be valid JSON.
 */
export function findDuplicateKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  // Outside of strings only braces matter; a string is a key exactly where a colon follows it.
  for (const [token, colon] of json.matchAll(/[{}]|"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      const keys = open.at(-1)!;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}
