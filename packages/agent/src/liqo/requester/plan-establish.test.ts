import { describe, expect, test } from "vitest";
import type { ResourceSlice } from "../objects.ts";
import {
  type EstablishStep,
  type ObservedVirtualNode,
  planEstablish,
  planRefresh,
} from "./plan-establish.ts";
import { resetSlice } from "./desired-virtual-node.ts";
import {
  ACCEPTED,
  aForeignCluster,
  aMarker,
  aNode,
  aSlice,
  aVirtualNode,
  DESIRED,
  FAILED,
  GOOD,
  NOT_PEERED,
} from "./testing/samples.ts";

type Changes = Partial<ObservedVirtualNode>;

/** The next step where everything is good but this. */
const plan = (changes: Changes): EstablishStep => planEstablish(DESIRED, { ...GOOD, ...changes });

/** `ready`, or what is done and said: `act Peering peer`, `stalled SliceDenied`. */
function outcome(step: EstablishStep): string {
  if (step.kind === "ready") return step.kind;
  const { kind, reason, isStalled, job, writes = [] } = step;
  const verbs = writes.map(({ verb, resource }) => `${verb} ${resource.kind}`);
  return [isStalled === true ? "stalled" : kind, reason, ...(job ? [job.kind] : []), ...verbs].join(" ");
}

const deleted = <T extends { readonly metadata: object }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: "2026-07-01T09:00:00Z" },
});
const slice = (changes: Parameters<typeof aSlice>[1]): Changes => ({ slice: aSlice(DESIRED, changes) });
const granted = (resources: Readonly<Record<string, string>>): Changes =>
  slice({ ...ACCEPTED, granted: { ...DESIRED.resources, ...resources } });
const node = (changes: Parameters<typeof aNode>[1]): Changes => ({ node: aNode(DESIRED, changes) });
const peered = (...args: Parameters<typeof aForeignCluster>): Changes => ({
  foreignCluster: aForeignCluster(...args),
});
const ENDING = { isEnding: true };
const [RUNNING, DONE] = [{ kind: "running", forMs: 1 } as const, { kind: "done", job: "peer" } as const];
const OTHERS: ResourceSlice = {
  ...aSlice(DESIRED),
  metadata: { name: DESIRED.id, namespace: "liqo-tenant-calm-paris" },
};
const GPU = { allocatable: { ...DESIRED.resources, "nvidia.com/gpu": "1" } };
const REMOVE = `kubectl delete resourceslices.authentication.liqo.io -n liqo-tenant-calm-paris ${DESIRED.id}`;

describe("a reservation that comes in", () => {
  test.each<[string, Changes, string, string?]>([
    ["is written down first", { ...NOT_PEERED, marker: undefined }, "act Peering create ConfigMap"],
    ["joins a peering of this agent", { marker: aMarker(["rsv-other"]) }, "act Peering update ConfigMap"],
    ["needs no claim on a person's peering", { marker: undefined }, "ready"],
    ["peers", NOT_PEERED, "act Peering peer"],
    ["peers with a cluster known from before", { ...NOT_PEERED, ...peered("Unknown") }, "act Peering peer"],
    ["peers with a cluster that borrows here", { ...NOT_PEERED, ...peered("Consumer") }, "act Peering peer"],
    ["uses a peering of both ways", peered("ConsumerAndProvider"), "ready"],
    ["waits for liqoctl", { ...NOT_PEERED, job: { ...RUNNING, job: "peer" } }, "wait Peering"],
    ["says why liqoctl failed", { ...NOT_PEERED, job: FAILED }, "stalled KubeconfigMissing"],
    ["tries again after a pause", { ...NOT_PEERED, job: { ...FAILED, retryInMs: 0 } }, "act Peering peer"],
    ["does not believe an exit code", { ...NOT_PEERED, job: { ...DONE, forMs: 1 } }, "wait AwaitingPeering"],
    [
      "peers again when the objects never follow",
      { ...NOT_PEERED, job: { ...DONE, forMs: 60_000 } },
      "act Peering peer",
    ],
    ["waits until another's peering has ended", { marker: aMarker(["rsv-other"], ENDING) }, "wait Unpeering"],
    [
      "opens the peering that was ended for it alone",
      { marker: aMarker([DESIRED.id], ENDING) },
      "act Peering update ConfigMap",
    ],
    [
      "opens the peering of others that cannot be ended",
      { marker: aMarker(["rsv-other"], ENDING), job: { ...FAILED, job: "unpeer" } },
      "act Peering update ConfigMap",
    ],
    ["waits for liqoctl to unpeer", { job: { ...RUNNING, job: "force-unpeer" } }, "wait Unpeering"],

    [
      "asks for a slice",
      { slice: undefined, virtualNode: undefined },
      "act SliceCreated create ResourceSlice",
    ],
    ["asks for none while an earlier node goes", { slice: undefined }, "wait NodeTerminating"],
    ["leaves a slice of others alone", { slice: OTHERS }, "stalled SliceConflict", REMOVE],
    [
      "leaves a slice to another provider alone",
      { slice: { ...aSlice(DESIRED), spec: { ...aSlice(DESIRED).spec, providerClusterID: "oslo" } } },
      "stalled SliceConflict",
    ],
    ["waits for an earlier slice to go", { slice: deleted(aSlice(DESIRED)) }, "wait SliceTerminating"],
    ["waits to be let in", slice({}), "wait AwaitingAuthentication"],
    ["is not let in", slice({ authentication: "Denied" }), "stalled AuthenticationDenied"],
    ["waits for the grant", slice({ authentication: "Accepted" }), "wait AwaitingGrant"],
    ["is denied", slice({ ...ACCEPTED, resources: "Denied" }), "stalled SliceDenied", "NoSuchReservation"],
    ["takes fewer pods and less scratch space", granted({ pods: "50", "ephemeral-storage": "5Gi" }), "ready"],
    ["is granted in part", granted({ cpu: "1" }), "stalled PartialGrant", "cpu is 1 instead of 4"],
    ["is granted in other words", granted({ cpu: "4000m", memory: "8192Mi" }), "ready"],

    ["waits for Liqo", { virtualNode: undefined }, "wait AwaitingVirtualNode"],
    ["waits for the node", { node: undefined }, "wait AwaitingNode"],
    ["meets a real node of its name", node({ isVirtual: false }), "stalled NodeConflict"],
    ["waits for a node that comes up", node({ ready: "False" }), "wait NodeNotReady"],
    [
      "does not wait long for one that does not",
      node({ ready: "Unknown", since: "2026-07-01T09:00:00Z" }),
      "stalled NodeNotReady",
    ],
    [
      "has a node of another size",
      node({ allocatable: { ...DESIRED.resources, memory: "4Gi" } }),
      "stalled NodeSizeDiffers",
    ],
    ["has a node with more than reserved", node(GPU), "stalled NodeSizeDiffers", "nvidia.com/gpu is 1"],
    [
      "has a node of another provider",
      { node: aNode({ ...DESIRED, liqoId: "calm-oslo" }) },
      "stalled NodeConflict",
    ],
    [
      "has a virtual node that is being deleted",
      { virtualNode: deleted(aVirtualNode(DESIRED)) },
      "wait NodeTerminating",
    ],

    ["is ready when all objects say so", {}, "ready"],
    ["cannot reach its provider", peered("Provider", { isReachable: false }), "stalled ProviderUnreachable"],
    [
      "does not know whether Liqo reaches its provider",
      {
        foreignCluster: {
          ...aForeignCluster("Provider"),
          status: { ...GOOD.foreignCluster?.status, role: "Provider", conditions: [] },
        },
      },
      "stalled ProviderUnreachable",
    ],
    [
      "is forbidden everything there, unnoticed by its node",
      { tenantStatus: "gone" },
      "stalled TenantMissing",
      "its Tenant is gone or drained: peer again",
    ],
    ["cannot ask its provider, and goes by its own objects", { tenantStatus: "unknown" }, "ready"],
    [
      "cannot be used by its pods",
      { offload: { kind: "wait", isStalled: true, reason: "OffloadingConflict", message: "a person's" } },
      "stalled OffloadingConflict",
    ],
  ])("%s", (_, changes, expected, message = "") => {
    const step = plan(changes);
    expect(outcome(step)).toBe(expected);
    expect(step.message).toContain(message);
  });

  test.each<[string, Changes, string]>([
    ["AwaitingAuthentication", slice({}), "Liqo at paris"],
    ["AwaitingGrant", slice({ authentication: "Accepted" }), "agent of paris"],
    ["AwaitingVirtualNode", { virtualNode: undefined }, "Liqo in this cluster"],
    ["AwaitingNode", { node: undefined }, "liqo-tenant-calm-paris"],
  ])("says where to look when %s takes too long", (reason, changes, where) => {
    const { slice: found = aSlice(DESIRED, ACCEPTED) } = changes;
    const finalizers = ["crdreplicator.liqo.io/resource"];
    const metadata = { ...found.metadata, creationTimestamp: "2026-07-01T09:50:00Z", finalizers };
    const step = plan({ ...changes, slice: { ...found, metadata } });
    expect(outcome(step)).toBe(`stalled ${reason}`);
    expect(step.message).toContain(where);
  });

  test("takes back what somebody added to its slice", () => {
    const found = aSlice(DESIRED, ACCEPTED);
    const resources = { ...DESIRED.resources, cpu: "16", "nvidia.com/gpu": "8" };
    const changed = { ...found, spec: { ...found.spec, resources } };
    expect(outcome(plan({ slice: changed }))).toBe("act SliceChanged patch ResourceSlice");
    expect(resetSlice(changed, DESIRED)).toMatchObject({
      body: { spec: { resources: { cpu: "4", "nvidia.com/gpu": null } } },
    });
  });
});

describe("the node of a reservation", () => {
  const MARK = "rear.fluidos.eu/releasing";
  const cordoned = (isOurs: boolean, metadata: object = {}): Changes => {
    const found = aNode(DESIRED);
    const annotations = isOurs ? { [MARK]: "true" } : {};
    return {
      node: {
        ...found,
        metadata: { ...found.metadata, ...metadata, annotations },
        spec: { unschedulable: true },
      },
    };
  };
  const cordon = { metadata: { annotations: { [MARK]: "true" } }, spec: { unschedulable: true } };
  const uncordon = { metadata: { annotations: { [MARK]: null } }, spec: { unschedulable: null } };
  const UNCORDONED_BY_HAND = { ...cordoned(true).node, spec: {} } as ObservedVirtualNode["node"];

  test.each<[string, boolean, Changes, object?]>([
    ["is cordoned under notice", true, {}, cordon],
    ["is not cordoned without one", false, {}],
    ["is cordoned once", true, cordoned(true)],
    ["is cordoned again if a person uncordons it", true, { node: UNCORDONED_BY_HAND }, cordon],
    ["is uncordoned when the notice is withdrawn", false, cordoned(true), uncordon],
    ["keeps the cordon of a person under notice", true, cordoned(false)],
    ["keeps the cordon of a person when the notice is withdrawn", false, cordoned(false)],
    ["is left alone if it is a real node", true, node({ isVirtual: false })],
    ["is left alone if it is another provider's", true, { node: aNode({ ...DESIRED, liqoId: "calm-oslo" }) }],
    [
      "is left alone while it is being deleted",
      false,
      cordoned(true, { deletionTimestamp: "2026-07-01T09:00:00Z" }),
    ],
    ["need not exist yet", true, { node: undefined, virtualNode: undefined }],
    ["is cordoned whatever the delivery waits for", true, granted({ cpu: "1" }), cordon],
  ])("%s", (_, isUnderNotice, changes, body) => {
    const writes = planRefresh({ ...DESIRED, isUnderNotice }, { ...GOOD, ...changes });
    const toNode = writes.filter(({ resource }) => resource.kind === "Node");
    expect(toNode).toEqual(
      body === undefined
        ? []
        : [expect.objectContaining({ verb: "patch", name: { name: DESIRED.id }, body })],
    );
  });
});

test.each([
  [undefined, `continue: ${REMOVE} ends them`],
  [
    "paris says: kubectl delete it",
    `continue: paris says: kubectl delete it; then here: ${REMOVE} ends them`,
  ],
])("a slice whose Identity is gone names what the provider says first: %s", (refusal, message) => {
  const step = plan({ ...peered("Provider", { hasIdentity: false }), refusal });
  expect(step).toMatchObject({ reason: "IdentityMissing", message: expect.stringContaining(message) });
});
