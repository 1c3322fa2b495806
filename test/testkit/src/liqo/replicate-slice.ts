import {
  LIQO_LABEL,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { type ObjectName, SECRETS } from "@resource-broker/kube";
import { isUnreachableForever } from "./foreign-clusters.ts";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { controlPlaneSecret, hasRights } from "./peer-objects.ts";
import { addFinalizer, change, dropFinalizer, ensure, remove } from "./writes.ts";

/** Liqo's replicator puts it on what it copies, and takes it off when the copy is gone. */
const FINALIZER = "crdreplicator.liqo.io/resource";

/** A slice at its consumer, with the provider it is for. */
export interface SliceAt {
  readonly consumer: LiqoSite;
  readonly provider: LiqoSite;
  readonly name: Required<ObjectName>;
}

/** The copy of a slice at the provider. */
export function replicaName({ consumer, name }: SliceAt): Required<ObjectName> {
  return { name: name.name, namespace: tenantNamespaceOf(consumer.id) };
}

/** The consumer's slice comes to the provider, its status comes back, and both go together. */
export async function replicateSlice(liqo: LiqoState, at: SliceAt): Promise<void> {
  const { consumer, provider, name } = at;
  const slice = await consumer.client.find(RESOURCE_SLICES, name);
  if (!(await isLinked(liqo, at, slice))) return slice === undefined ? undefined : giveUp(liqo, at, slice);
  if (slice === undefined) return remove(provider.client, RESOURCE_SLICES, replicaName(at));
  if (slice.metadata.labels?.[LIQO_LABEL.replication] !== "true") return;
  if (slice.metadata.deletionTimestamp !== undefined) return removeBoth(liqo, at, slice);
  if (!liqo.behaviours.of(name.name).replicates) return;
  await complete(at, slice);
  await addFinalizer(consumer.client, RESOURCE_SLICES, { object: slice, finalizer: FINALIZER });
  const whole = await consumer.client.get(RESOURCE_SLICES, name);
  if (await isForgotten(liqo, at, whole)) return;
  await bringSpec(at, whole);
  await bringStatusBack(at);
}

async function giveUp(liqo: LiqoState, { consumer, provider }: SliceAt, slice: ResourceSlice): Promise<void> {
  if (
    slice.metadata.deletionTimestamp === undefined ||
    !(await isUnreachableForever(liqo, consumer, provider.id))
  )
    return;
  await dropFinalizer(consumer.client, RESOURCE_SLICES, { object: slice, finalizer: FINALIZER });
}

/**
 * The provider answers, and grants it. The replicator works with the Secret; with one that is on its way out it ends what
 * it has begun, and begins nothing, also when they were peered anew meanwhile.
 */
async function isLinked(liqo: LiqoState, at: SliceAt, slice: ResourceSlice | undefined): Promise<boolean> {
  const { consumer, provider } = at;
  const isEnding = slice === undefined || slice.metadata.deletionTimestamp !== undefined;
  if (!liqo.isReachable(provider.id) || !(await hasRights(at))) return false;
  const secret = await consumer.client.find(SECRETS, controlPlaneSecret(provider.id));
  return secret !== undefined && (isEnding || secret.metadata.deletionTimestamp === undefined);
}

/** What the provider refused is brought there no more until it changes here. */
async function isForgotten(liqo: LiqoState, at: SliceAt, { metadata }: ResourceSlice): Promise<boolean> {
  const { uid = "", name, resourceVersion } = metadata;
  if ((await at.provider.client.find(RESOURCE_SLICES, replicaName(at))) !== undefined) return false;
  if (liqo.behaviours.of(name).isRefused) liqo.refusedVersions.set(uid, resourceVersion);
  return liqo.refusedVersions.has(uid) && liqo.refusedVersions.get(uid) === resourceVersion;
}

async function removeBoth(liqo: LiqoState, at: SliceAt, slice: ResourceSlice): Promise<void> {
  const { consumer, provider, name } = at;
  await remove(provider.client, RESOURCE_SLICES, replicaName(at));
  if ((await provider.client.find(RESOURCE_SLICES, replicaName(at))) !== undefined) return;
  if (liqo.behaviours.of(name.name).stuck.includes("slice")) return;
  await dropFinalizer(consumer.client, RESOURCE_SLICES, { object: slice, finalizer: FINALIZER });
}

/** What Liqo adds to a slice that others made. */
async function complete({ consumer, name }: SliceAt, { spec }: ResourceSlice): Promise<void> {
  if (spec.consumerClusterID !== undefined && spec.csr !== undefined) return;
  const csr = Buffer.from(`a certificate for ${name.name}, please`).toString("base64");
  const body = { spec: { consumerClusterID: consumer.id, csr } };
  await change(consumer.client, RESOURCE_SLICES, { name, body });
}

/** Labels and annotations are copied once, when the copy is made; later only the spec follows. */
async function bringSpec(at: SliceAt, slice: ResourceSlice): Promise<void> {
  const { consumer, provider } = at;
  const { metadata, spec } = slice;
  const replica = await ensure(provider.client, RESOURCE_SLICES, {
    apiVersion: slice.apiVersion,
    kind: slice.kind,
    metadata: {
      ...replicaName(at),
      labels: {
        ...metadata.labels,
        [LIQO_LABEL.replication]: "false",
        [LIQO_LABEL.replicated]: "true",
        [LIQO_LABEL.origin]: consumer.id,
        [LIQO_LABEL.remoteCluster]: consumer.id,
      },
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
    },
    spec,
  });
  if (JSON.stringify(replica.spec) === JSON.stringify(spec)) return;
  await provider.client.update(RESOURCE_SLICES, { ...replica, spec });
}

async function bringStatusBack(at: SliceAt): Promise<void> {
  const { consumer, provider, name } = at;
  const replica = await provider.client.find(RESOURCE_SLICES, replicaName(at));
  const slice = await consumer.client.find(RESOURCE_SLICES, name);
  if (slice === undefined || replica?.status === undefined) return;
  if (JSON.stringify(slice.status) === JSON.stringify(replica.status)) return;
  await consumer.client.update(
    RESOURCE_SLICES,
    { ...slice, status: replica.status },
    { subresource: "status" },
  );
}
