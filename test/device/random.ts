/** Numbers in (-1, 1), the same for the same seed (Park and Miller's generator). */
export function generator(seed: number): () => number {
  let state = (seed % 2147483646) + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return (state / 2147483647) * 2 - 1;
  };
}
