const MOST_SHOWN = 16;

/** Elements of a shape; infinite where these are more than can be counted exactly. */
export function elementsOf(shape: readonly number[]): number {
  let elements = 1;
  for (const size of shape) {
    elements *= size;
    if (!Number.isSafeInteger(elements)) return Number.POSITIVE_INFINITY;
  }
  return elements;
}

/** A shape for a message. */
export function shapeText(shape: readonly number[]): string {
  const more = shape.length > MOST_SHOWN ? `, … ${shape.length} sizes` : '';
  return `[${shape.slice(0, MOST_SHOWN).join(', ')}${more}]`;
}
