import { CONVERSIONS } from "./conversions.ts";
import { LISTS } from "./lists.ts";
import { OPERATORS } from "./operators.ts";
import { OPTIONALS } from "./optionals.ts";
import type { Overload } from "./overload.ts";
import { QUANTITIES } from "./quantities.ts";
import { STRINGS } from "./strings.ts";
import { TIMES } from "./times.ts";
import { URLS } from "./urls.ts";

/** Kubernetes has these and kube-sim has not. A rule that uses one is refused when it is installed. */
const MISSING: ReadonlySet<string> = new Set(
  [
    "ip isIP family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast isCanonical",
    "cidr isCIDR containsIP containsCIDR masked prefixLength semver isSemver major minor patch format.named",
    "validate flatten sort sortBy first last lists.range transformList transformMap transformMapEntry",
  ].flatMap((names) => names.split(" ")),
);

const BY_NAME = byName([
  ...OPERATORS,
  ...CONVERSIONS,
  ...STRINGS,
  ...LISTS,
  ...QUANTITIES,
  ...URLS,
  ...TIMES,
  ...OPTIONALS,
]);

export function overloadsOf(name: string): readonly Overload[] {
  return BY_NAME.get(name) ?? [];
}

export function isMissing(name: string): boolean {
  return MISSING.has(name);
}

function byName(overloads: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const found = new Map<string, Overload[]>();
  for (const overload of overloads) {
    const others = found.get(overload.name);
    if (others === undefined) found.set(overload.name, [overload]);
    else others.push(overload);
  }
  return found;
}
