import { CLUSTER_ID_MAX_LENGTH, isClusterId } from "@resource-broker/domain";
import { CommandError } from "./exit-code.ts";

/** Refuses what can be no cluster ID, and names one that can. `taken` are good IDs that mean something else here. */
export function checkClusterId(id: string, taken: readonly string[] = []): void {
  const isGood: boolean = isClusterId(id);
  if (isGood) return;
  const proposal = nearestId(id);
  const hint = isClusterId(proposal) && !taken.includes(proposal) ? `; did you mean ${proposal}?` : "";
  throw new CommandError(
    "usage",
    `${JSON.stringify(id)} cannot be a cluster ID: it needs 1 to 63 of a-z, 0-9, "-" and ".", with a letter or digit beside each "." and at both ends${hint}`,
  );
}

function nearestId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]+/gu, "-")
    .slice(0, CLUSTER_ID_MAX_LENGTH)
    .replaceAll(/^[-.]+|[-.]+$/gu, "")
    .replaceAll(/-*\.[-.]*/gu, ".");
}
