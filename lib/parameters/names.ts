const MOST_SUGGESTED = 3;

/** Of `known`, the few names near enough to `name` to be what was meant, nearest first. */
export function closeNames(name: string, known: Iterable<string>): string[] {
  const far = Math.max(2, Math.floor(name.length / 4));
  const near: { candidate: string; edits: number }[] = [];
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > far) continue;
    const edits = editDistance(name, candidate);
    if (edits <= far) near.push({ candidate, edits });
  }
  near.sort((a, b) => a.edits - b.edits);
  return near.slice(0, MOST_SUGGESTED).map(({ candidate }) => candidate);
}

/** Insertions, deletions and substitutions that make one text the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
