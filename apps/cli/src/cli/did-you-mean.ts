/** `: did you mean issue?` or nothing. base is loaded only when it is needed. */
export async function didYouMean(
  word: string,
  known: readonly string[],
  show = (name: string) => name,
): Promise<string> {
  const { closest } = await import("@resource-broker/base");
  const best = closest(word, known);
  return best === undefined ? "" : `; did you mean ${show(best)}?`;
}
