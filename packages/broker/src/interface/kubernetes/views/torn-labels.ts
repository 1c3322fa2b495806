import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract";
import type { ObjectCache } from "@resource-broker/kube";
import { isSameVersion, versionOf } from "./advertisement-owner.ts";

/**
 * Views whose label was removed without another change. An agent that takes over changes the advertisement in the same write.
 * The two cases can be told apart only by watching the change.
 */
export interface RemovedLabels {
  readonly has: (name: string) => boolean;
  readonly stop: () => void;
}

export function tornLabels(known: ObjectCache<ClusterAdvertisement>): RemovedLabels {
  const names = new Set<string>();
  const stop = known.listen((key, now, before) => {
    const name = key.slice(key.indexOf("/") + 1);
    if (now === undefined || before === undefined || isView(now)) names.delete(name);
    else if (isView(before) && isOnlyLabelRemoved(now, before)) names.add(name);
    else if (!isSameAdvertisement(now, before)) names.delete(name);
  });
  return { has: (name) => names.has(name), stop };
}

function isView({ metadata }: ClusterAdvertisement): boolean {
  return metadata.labels?.[KUBE_LABEL.view] === "true";
}

/** What the broker showed, and had finished showing. */
function isOnlyLabelRemoved(now: ClusterAdvertisement, before: ClusterAdvertisement): boolean {
  const accepted = before.status?.accepted;
  return (
    isSameAdvertisement(now, before) &&
    accepted !== undefined &&
    isSameVersion(versionOf(now.spec), versionOf(accepted))
  );
}

function isSameAdvertisement(now: ClusterAdvertisement, before: ClusterAdvertisement): boolean {
  return (
    now.metadata.uid === before.metadata.uid && isSameVersion(versionOf(now.spec), versionOf(before.spec))
  );
}
