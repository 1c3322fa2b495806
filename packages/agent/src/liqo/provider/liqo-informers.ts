import { createHash } from "node:crypto";
import { type Informer, informer, type ReflectorDeps } from "@resource-broker/kube";
import { LIQO_LABEL, RESOURCE_SLICES, type ResourceSlice, SHADOW_PODS, type ShadowPod } from "../objects.ts";

/** As many bytes of the digest as Liqo keeps. */
const DIGEST_BYTES = 6;
const CREATOR_USER = /^(.+)-[0-9a-f]{12}$/;

/**
 * The user of a consumer's virtual node at this provider: it is the label creator-user of its pods and the name
 * of the slice's Quota. It is computed, because a replica may name any consumer.
 */
export function creatorUserOf(sliceName: string, consumerLiqoId: string): string {
  const digest = createHash("sha256").update(consumerLiqoId).digest().subarray(0, DIGEST_BYTES);
  return `${sliceName}-${digest.toString("hex")}`;
}

/** The slice of a user; undefined: not a slice's user. */
export function sliceOf(creatorUser: string): string | undefined {
  return CREATOR_USER.exec(creatorUser)?.[1];
}

/** Objects of other clusters, by the name of their slice. Several clusters may use one name. */
export interface SliceIndex<T> {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly synced: () => boolean;
  readonly names: () => Iterable<string>;
  readonly named: (sliceName: string) => readonly T[];
  readonly listen: (listener: (sliceName: string) => void) => () => void;
}

function sliceIndex<T>(
  { start, stop, synced, listen }: Informer<T>,
  sliceNameOf: (object: T) => string,
): SliceIndex<T> {
  const index = new Map<string, Map<string, T>>();
  const drop = (key: string, before: T): void => {
    const name = sliceNameOf(before);
    const found = index.get(name);
    if (found?.delete(key) === true && found.size === 0) index.delete(name);
  };
  listen((key, now, before) => {
    if (before !== undefined) drop(key, before);
    if (now === undefined) return;
    const name = sliceNameOf(now);
    index.set(name, (index.get(name) ?? new Map<string, T>()).set(key, now));
  });
  return {
    start,
    stop,
    synced,
    names: () => index.keys(),
    named: (name) => [...(index.get(name)?.values() ?? [])],
    listen: (listener) =>
      listen((_, now, before) => {
        const changed = now ?? before;
        if (changed !== undefined) listener(sliceNameOf(changed));
      }),
  };
}

/** The fields of a ShadowPod that are kept. */
export interface Guest {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** The user that created it. */
  readonly user: string;
  readonly isDeleting: boolean;
}

/** Pods that run here for other clusters, including those that are being deleted. */
export function guestPods(deps: ReflectorDeps): SliceIndex<Guest> {
  const options = { resource: SHADOW_PODS, transform: guestOf, isSame: isSameGuest };
  return sliceIndex(informer(options, deps), ({ user }) => sliceOf(user) ?? "");
}

/** Undefined: it was not created through a slice. */
function guestOf({ metadata }: ShadowPod): Guest | undefined {
  const user = userOf(metadata.labels ?? {});
  if (user === undefined || sliceOf(user) === undefined) return undefined;
  const { name, namespace = "", uid = "", deletionTimestamp } = metadata;
  return { name, namespace, uid, user, isDeleting: deletionTimestamp !== undefined };
}

/**
 * Where Liqo does not enforce resources, its webhook sets no user. The origin is still checked, so a consumer
 * can only name a slice of its own.
 */
function userOf(labels: Readonly<Record<string, string>>): string | undefined {
  const labelled = labels[LIQO_LABEL.creatorUser];
  if (labelled !== undefined) return labelled;
  const [sliceName, origin] = [labels[LIQO_LABEL.podNode], labels[LIQO_LABEL.podOrigin]];
  return sliceName === undefined || origin === undefined ? undefined : creatorUserOf(sliceName, origin);
}

function isSameGuest(a: Guest, b: Guest): boolean {
  return a.uid === b.uid && a.user === b.user && a.isDeleting === b.isDeleting;
}

/** Replicas of other clusters' slices, in all namespaces. */
export function replicas(deps: ReflectorDeps): SliceIndex<ResourceSlice> {
  const options = {
    resource: RESOURCE_SLICES,
    labelSelector: `${LIQO_LABEL.replicated}=true`,
    transform: (slice: ResourceSlice) =>
      slice.metadata.labels?.[LIQO_LABEL.replicated] === "true" ? withSpec(slice) : undefined,
    isSame: ({ metadata: a }: ResourceSlice, { metadata: b }: ResourceSlice) =>
      a.uid === b.uid && a.resourceVersion === b.resourceVersion,
  };
  return sliceIndex(informer(options, deps), ({ metadata }) => metadata.name);
}

/** Liqo's schema does not require a spec; one replica without it must not stop the others. */
export function withSpec(slice: ResourceSlice): ResourceSlice {
  return { ...slice, spec: slice.spec ?? {} };
}
