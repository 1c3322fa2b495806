const MAX_LENGTH = 63;

/** A cluster ID for each context, as near to its name as the rules allow; no two are alike. */
export function clusterIdsFor(contexts: readonly string[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const context of contexts) {
    const id = unused(plain(context), taken);
    taken.add(id);
    ids.set(context, id);
  }
  return ids;
}

/** Clouds name contexts by whole paths, of which the last part is what people say: `arn:aws:eks:…:cluster/prod`. */
function plain(context: string): string {
  const last = context.split("/").findLast((part) => /[A-Za-z0-9]/.test(part)) ?? "cluster";
  const id = last
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]+/g, "-")
    .replaceAll(/^[^a-z0-9]+/g, "")
    .slice(0, MAX_LENGTH)
    .replaceAll(/[^a-z0-9]+$/g, "");
  return id === "" ? "cluster" : id;
}

function unused(id: string, taken: ReadonlySet<string>): string {
  for (let number = 2, candidate = id; ; number++) {
    if (!taken.has(candidate)) return candidate;
    const ending = `-${number}`;
    candidate = `${id.slice(0, MAX_LENGTH - ending.length)}${ending}`;
  }
}
