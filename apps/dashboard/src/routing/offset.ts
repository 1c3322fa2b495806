/** Of the first row; whatever else stands in the address is the beginning. */
export function readOffset(query: URLSearchParams): number {
  const offset = Number(query.get("offset") ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}
