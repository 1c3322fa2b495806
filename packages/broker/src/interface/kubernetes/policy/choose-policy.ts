import type { BrokerPolicy } from "@resource-broker/contract";

/** Where there are several, this one counts. */
const DEFAULT_NAME = "default";

/**
 * The object to follow: the one named `default`, or the only one. With several and none of that name the one that was in
 * force so far stays it, because limits must not fall away just because somebody added an object.
 */
export function choosePolicy(objects: readonly BrokerPolicy[]): BrokerPolicy | undefined {
  const named = objects.find(({ metadata }) => metadata.name === DEFAULT_NAME);
  if (named !== undefined) return named;
  if (objects.length === 1) return objects[0];
  return objects
    .filter(({ status }) => status?.inForce === true)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
