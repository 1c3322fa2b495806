import { createHash } from "node:crypto";
import { Fault } from "@resource-broker/base";
import { informer, type KubeClient, type ReflectorDeps } from "@resource-broker/kube";
import { RESOURCE_SLICES, type ResourceSlice } from "../objects/authentication.ts";
import { LIQO_LABEL } from "../objects/labels.ts";
import { SHADOW_PODS, type ShadowPod } from "../objects/offloading.ts";

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

/** The fields of a ShadowPod that are kept. */
interface Guest {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly user: string;
  readonly isDeleting: boolean;
}

/** Guest pods, by the user that created them. */
export interface GuestPods {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly synced: () => boolean;
  /** Number of pods, including those that are being deleted. */
  readonly count: (user: string) => number;
  /** Names of slices with guest pods. */
  readonly sliceNames: () => Iterable<string>;
  readonly runFor: (sliceName: string) => boolean;
  /** Deletes a bounded number of them, so that one reservation does not block the others. Returns the number. */
  readonly evict: (user: string, client: Pick<KubeClient, "delete">) => Promise<number>;
  readonly listen: (listener: (sliceName: string) => void) => () => void;
}

const EVICT_AT_ONCE = 50;

/** Follows ShadowPods and keeps nothing of them but their names. */
export function guestPods(deps: ReflectorDeps): GuestPods {
  const follower = informer({ resource: SHADOW_PODS, transform: guestOf, isSame: isSameGuest }, deps);
  const byUser = new Map<string, Map<string, Guest>>();
  const users = new Map<string, Set<string>>();

  const forget = (key: string, { user }: Guest): void => {
    const guests = byUser.get(user);
    if (guests?.delete(key) !== true || guests.size > 0) return;
    byUser.delete(user);
    const sliceName = sliceOf(user) ?? "";
    const ofSlice = users.get(sliceName);
    if (ofSlice?.delete(user) === true && ofSlice.size === 0) users.delete(sliceName);
  };
  const index = (key: string, guest: Guest): void => {
    byUser.set(guest.user, (byUser.get(guest.user) ?? new Map<string, Guest>()).set(key, guest));
    const sliceName = sliceOf(guest.user) ?? "";
    users.set(sliceName, (users.get(sliceName) ?? new Set<string>()).add(guest.user));
  };
  follower.listen((key, now, before) => {
    if (before !== undefined) forget(key, before);
    if (now !== undefined) index(key, now);
  });

  return {
    start: follower.start,
    stop: follower.stop,
    synced: follower.synced,
    count: (user) => byUser.get(user)?.size ?? 0,
    sliceNames: () => users.keys(),
    runFor: (sliceName) => users.has(sliceName),
    evict: async (user, client) => {
      const staying = [...(byUser.get(user) ?? [])].filter(([, { isDeleting }]) => !isDeleting);
      const leaving = staying.slice(0, EVICT_AT_ONCE);
      for (const [key, guest] of leaving) {
        const { name, namespace, uid } = guest;
        await client.delete(SHADOW_PODS, { name, namespace }, { uid }).catch(ignoreGone);
        // Marked until the informer shows it, so that it is not deleted twice.
        if (byUser.get(user)?.get(key) === guest) index(key, { ...guest, isDeleting: true });
      }
      return leaving.length;
    },
    listen: (listener) =>
      follower.listen((_, now, before) => {
        const sliceName = sliceOf((now ?? before)?.user ?? "");
        if (sliceName !== undefined) listener(sliceName);
      }),
  };
}

/** Undefined: it was not created through a slice. */
function guestOf({ metadata }: ShadowPod): Guest | undefined {
  const user = userOf(metadata.labels ?? {});
  if (user === undefined || sliceOf(user) === undefined) return undefined;
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    uid: metadata.uid ?? "",
    user,
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
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

/** Already gone, or replaced by another pod of the same name, which is handled separately. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof Fault) || (error.code !== "not-found" && error.code !== "conflict")) throw error;
}

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
