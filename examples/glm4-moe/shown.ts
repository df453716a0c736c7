const LONGEST = 100;

/** A name that a file gives, for a message: cut where it is long, and with escapes for what a terminal obeys. */
export function shown(name: string): string {
  const cut = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
  return cut.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`,
  );
}
