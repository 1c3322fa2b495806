/**
 * Reads a body that this code wrote. Its row's seal was checked, and a change of shape comes with a migration, so the
 * type is taken on trust here and nowhere else.
 */
export function parseStored<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- we wrote it, and its seal was checked
  return JSON.parse(text) as T;
}
