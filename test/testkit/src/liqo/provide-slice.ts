import { createHash } from "node:crypto";
import {
  LIQO_ANNOTATION,
  LIQO_LABEL,
  QUOTAS,
  type Quota,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  type ResourceSliceCondition,
} from "@resource-broker/agent/liqo";
import type { LiqoBehaviour } from "./behaviour.ts";
import type { LiqoState } from "./liqo-state.ts";
import { replicaName, type SliceAt } from "./replicate-slice.ts";
import { change, ensure, ownedBy } from "./writes.ts";

/** What Liqo gives without being asked, to slices of its own class. */
const DEFAULTS: ResourceList = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };
const LIQO_CLASSES: readonly (string | undefined)[] = [undefined, "", "default"];
const FALSE_WORDS: readonly (string | undefined)[] = [undefined, "false", "False", "0"];

type Status = NonNullable<ResourceSlice["status"]>;

/** Who the pods of a slice come from: the common name of its certificate. */
export function creatorUser(slice: string, consumerId: string): string {
  return `${slice}-${createHash("sha256").update(consumerId).digest("hex").slice(0, 12)}`;
}

/** The provider's side of a slice: who is let in, what Liqo's own class grants, and the limit of its pods. */
export async function provideSlice(liqo: LiqoState, at: SliceAt): Promise<void> {
  const { provider } = at;
  if (!liqo.isReachable(provider.id)) return;
  const replica = await provider.client.find(RESOURCE_SLICES, replicaName(at));
  if (replica === undefined || replica.metadata.deletionTimestamp !== undefined) return;
  if (replica.metadata.labels?.[LIQO_LABEL.replicated] !== "true") return;
  const judged = judge(replica, liqo.behaviours.of(replica.metadata.name), liqo.now);
  const status = JSON.stringify(judged) === JSON.stringify(replica.status ?? {}) ? undefined : judged;
  if (status !== undefined)
    await provider.client.update(RESOURCE_SLICES, { ...replica, status }, { subresource: "status" });
  await limit(at, { ...replica, status: judged });
}

function judge(replica: ResourceSlice, behaviour: LiqoBehaviour, now: () => string): Status {
  const answered = authenticate(replica.status ?? {}, behaviour, now);
  return grant(replica, answered, { behaviour, now });
}

function authenticate(status: Status, { authenticates }: LiqoBehaviour, now: () => string): Status {
  if (authenticates === "Never" || conditionOf(status, "Authentication") !== undefined) return status;
  const { conditions = [] } = status;
  const words = authenticates === "Accepted" ? "accepted" : "denied";
  const condition: ResourceSliceCondition = {
    type: "Authentication",
    status: authenticates,
    lastTransitionTime: now(),
    reason: `ResourceSliceAuthentication${authenticates}`,
    message: `ResourceSlice authentication ${words}`,
  };
  if (authenticates === "Denied") return { ...status, conditions: [...conditions, condition] };
  const signedCRT = Buffer.from("a certificate").toString("base64");
  return {
    ...status,
    authParams: { apiServer: "https://provider.example:6443", signedCRT },
    conditions: [...conditions, condition],
  };
}

function grant(
  { spec }: ResourceSlice,
  status: Status,
  { behaviour, now }: { readonly behaviour: LiqoBehaviour; readonly now: () => string },
): Status {
  if (status.authParams === undefined || conditionOf(status, "Resources") !== undefined) return status;
  const asked = spec.resources ?? {};
  const granted = LIQO_CLASSES.includes(spec.class) ? { ...DEFAULTS, ...asked } : behaviour.grants?.(asked);
  if (granted === undefined) return status;
  const word = granted === "Denied" ? "Denied" : "Accepted";
  const condition: ResourceSliceCondition = {
    type: "Resources",
    status: word,
    lastTransitionTime: now(),
    reason: `ResourceSliceResources${word}`,
    message: `ResourceSlice resources ${word.toLowerCase()}`,
  };
  return {
    ...status,
    conditions: [...(status.conditions ?? []), condition],
    ...(granted === "Denied" ? {} : { resources: granted }),
  };
}

/** The Quota follows what was granted, and whether the slice is cordoned. */
async function limit(at: SliceAt, replica: ResourceSlice): Promise<void> {
  const { provider } = at;
  if (conditionOf(replica.status, "Resources")?.status !== "Accepted") return;
  const wanted = quotaObject(at, replica);
  const quota = await ensure(provider.client, QUOTAS, wanted);
  const { resources, cordoned = false } = wanted.spec;
  const isSame = JSON.stringify(quota.spec.resources) === JSON.stringify(resources);
  if (isSame && (quota.spec.cordoned ?? false) === cordoned) return;
  const body = { spec: { resources, cordoned: cordoned ? true : null } };
  await change(provider.client, QUOTAS, { name: quota.metadata, body });
}

function quotaObject(at: SliceAt, replica: ResourceSlice): Quota {
  const { metadata, status } = replica;
  const user = creatorUser(metadata.name, at.consumer.id);
  const cordoned = !FALSE_WORDS.includes(metadata.annotations?.[LIQO_ANNOTATION.cordon]);
  const resources = status?.resources ?? {};
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "Quota",
    metadata: { name: user, namespace: replicaName(at).namespace, ...ownedBy(replica, RESOURCE_SLICES) },
    spec: { user, resources, limitsEnforcement: "None", ...(cordoned ? { cordoned } : {}) },
  };
}

export function conditionOf(
  status: Status | undefined,
  type: ResourceSliceCondition["type"],
): ResourceSliceCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
