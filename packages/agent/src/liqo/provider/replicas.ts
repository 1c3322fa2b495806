import { informer, type ReflectorDeps } from "@resource-broker/kube";
import { LIQO_LABEL } from "../objects/labels.ts";
import { RESOURCE_SLICES, type ResourceSlice } from "../objects/resource-slice.ts";

/** Replicas of other clusters' slices, in all namespaces. */
export interface Replicas {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly synced: () => boolean;
  readonly names: () => Iterable<string>;
  /** Several clusters may use one name. */
  readonly named: (sliceName: string) => readonly ResourceSlice[];
  readonly listen: (listener: (sliceName: string) => void) => () => void;
}

export function replicas(deps: ReflectorDeps): Replicas {
  const follower = informer(
    {
      resource: RESOURCE_SLICES,
      labelSelector: `${LIQO_LABEL.replicated}=true`,
      transform: (slice: ResourceSlice) => (isReplica(slice) ? withSpec(slice) : undefined),
      isSame: isSameVersion,
    },
    deps,
  );
  const byName = new Map<string, Map<string, ResourceSlice>>();
  follower.listen((key, now, before) => {
    const name = (now ?? before)?.metadata.name ?? "";
    const found = byName.get(name) ?? new Map<string, ResourceSlice>();
    if (now === undefined) found.delete(key);
    else found.set(key, now);
    if (found.size === 0) byName.delete(name);
    else byName.set(name, found);
  });

  return {
    start: follower.start,
    stop: follower.stop,
    synced: follower.synced,
    names: () => byName.keys(),
    named: (name) => [...(byName.get(name)?.values() ?? [])],
    listen: (listener) => follower.listen((_, now, before) => listener((now ?? before)?.metadata.name ?? "")),
  };
}

/** Liqo's schema does not require a spec; one replica without it must not stop the others. */
export function withSpec(slice: ResourceSlice): ResourceSlice {
  return { ...slice, spec: slice.spec ?? {} };
}

function isReplica({ metadata }: ResourceSlice): boolean {
  return metadata.labels?.[LIQO_LABEL.replicated] === "true";
}

function isSameVersion(a: ResourceSlice, b: ResourceSlice): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
