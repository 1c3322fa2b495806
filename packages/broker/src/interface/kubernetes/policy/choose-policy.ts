import type { BrokerPolicy } from "@resource-broker/contract";

/** Where there are several, this one counts. */
const DEFAULT_NAME = "default";

/**
 * Selects the BrokerPolicy: the one named `default`, or the only one. If there are several and none is named `default`, the
 * policy in force stays, so that adding an object does not remove limits.
 */
export function choosePolicy(objects: readonly BrokerPolicy[]): BrokerPolicy | undefined {
  const named = objects.find(({ metadata }) => metadata.name === DEFAULT_NAME);
  if (named !== undefined) return named;
  if (objects.length === 1) return objects[0];
  return objects
    .filter(({ status }) => status?.inForce === true)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
