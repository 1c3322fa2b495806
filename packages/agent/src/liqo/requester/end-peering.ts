import type { Clock } from "@resource-broker/base";
import { type KubeClient, wait } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { MANAGER } from "../../manifests/labels.ts";
import {
  deleteCommand,
  FOREIGN_CLUSTERS,
  type ForeignCluster,
  IDENTITIES,
  LIQO_LABEL,
  RESERVATION_LABEL,
  RESOURCE_SLICES,
  tenantNamespaceOf,
} from "../objects.ts";
import type { ClusterReads } from "./observe.ts";
import type { JobResult } from "./peering-job-runner.ts";
import { isProvider, isTerminating } from "./plan-peering.ts";
import type { Pair } from "./steps.ts";

/** Liqo cleans up within about a second, or not at all when it lacks rights. */
export const TERMINATION_MS = 15_000;
/** After its rights are restored, Liqo retries only after its grown backoff. */
export const REPAIR_MS = 120_000;
/** Liqo reconciles a ForeignCluster when a label changes, but does not watch what it waits for. */
const TOUCH_LABEL = "rear.fluidos.eu/look-again";
/** Liqo does not wait for a cluster that has this annotation, whenever it does not answer. Liqo never removes it. */
export const UNREACHABLE = "liqo.io/foreign-cluster-permanently-unreachable";
const MIN_POLL_MS = 500;
const MAX_POLL_MS = 5000;

export interface EndPeeringDeps {
  readonly client: Pick<KubeClient, "list" | "patch" | "delete">;
  readonly reads: Pick<ClusterReads, "foreignCluster" | "slicesTo">;
  readonly clock: Clock;
  readonly liqoNamespace: string;
}

/** Peers the clusters, or makes an existing peering work again. */
type Peer = (signal: AbortSignal) => Promise<JobResult>;

/** How this cluster's side of a peering ends, however it was made. */
export function peeringEnds({ client, reads, clock, liqoNamespace }: EndPeeringDeps) {
  /** Triggers Liqo's reconcile until the condition holds; false: it did not hold in time. */
  const settles = async (
    liqoId: string,
    isDone: (foreignCluster: ForeignCluster | undefined) => boolean,
    { withinMs, signal }: { readonly withinMs: number; readonly signal: AbortSignal },
  ): Promise<boolean> => {
    const beganAt = clock.monotonicMs();
    for (;;) {
      const seen = await reads.foreignCluster(liqoId);
      if (isDone(seen)) return true;
      const waitedMs = clock.monotonicMs() - beganAt;
      if (signal.aborted || waitedMs >= withinMs) return false;
      if (seen !== undefined) await triggerReconcile(seen.metadata.name);
      await wait(Math.min(MIN_POLL_MS + waitedMs / 4, MAX_POLL_MS), { clock, signal });
    }
  };
  const triggerReconcile = async (name: string): Promise<void> => {
    for (const value of ["true", null]) {
      const patch = { kind: "merge", body: { metadata: { labels: { [TOUCH_LABEL]: value } } } } as const;
      const change = { name: { name }, patch };
      await client.patch(FOREIGN_CLUSTERS, change, { fieldManager: MANAGER }).catch(ignoring("not-found"));
    }
  };
  /** Tells Liqo that the provider is gone for good, or that it is not. */
  const setUnreachable = async ({ liqoId }: Pair, isGone: boolean): Promise<void> => {
    const { name, annotations = {} } = (await reads.foreignCluster(liqoId))?.metadata ?? {};
    if (name === undefined || (annotations[UNREACHABLE] === "true") === isGone) return;
    const body = { metadata: { annotations: { [UNREACHABLE]: isGone ? "true" : null } } };
    const change = { name: { name }, patch: { kind: "merge", body } } as const;
    await client.patch(FOREIGN_CLUSTERS, change, { fieldManager: MANAGER }).catch(ignoring("not-found"));
  };

  /** A slice that uses the peering: unpeering would delete it, and it blocks Liqo's cleanup. */
  const problemIfInUse = async ({ clusterId, liqoId }: Pair): Promise<JobResult> => {
    const [slice] = (await reads.slicesTo(liqoId)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    if (slice === undefined) return undefined;
    const what = `ResourceSlice ${slice.metadata.name} uses the peering with ${clusterId}`;
    return { reason: "PeeringInUse", message: `${what}; to end that: ${deleteCommand(slice)}` };
  };
  /**
   * Deletes the control plane Identity of Liqo, with its Secret and dependents, while the provider still accepts
   * it: Liqo needs those rights to clean up. False: it does not clean up in time.
   */
  const endIdentity = async ({ liqoId }: Pair, withinMs: number, signal: AbortSignal): Promise<boolean> => {
    const namespace = tenantNamespaceOf(liqoId);
    const names: string[] = [];
    const labelSelector = `${LIQO_LABEL.remoteCluster}=${liqoId}`;
    await client.list(IDENTITIES, { namespace, labelSelector }, ({ metadata, spec }) => {
      if (spec.type === "ControlPlane") names.push(metadata.name);
    });
    for (const name of names) {
      await client.delete(IDENTITIES, { name, namespace }).catch(ignoring("not-found"));
    }
    return await settles(liqoId, (seen) => !isProvider(seen), { withinMs, signal });
  };
  const endPeering = async (pair: Pair, signal: AbortSignal): Promise<JobResult> => {
    if (await endIdentity(pair, REPAIR_MS, signal)) return undefined;
    const remedy = `restart Liqo's crd-replicator (kubectl rollout restart deployment liqo-crd-replicator -n ${liqoNamespace})`;
    const message = `Liqo does not finish the cleanup of an earlier peering with ${pair.clusterId}: ${remedy}`;
    return { reason: "LiqoHoldsOn", message };
  };
  /** If Liqo's rights were removed before its cleanup, the cleanup never ends. Peering again restores the rights. */
  const repair = (pair: Pair, peer: Peer, signal: AbortSignal): Promise<JobResult> =>
    inOrder(
      signal,
      () => problemIfInUse(pair),
      () => peer(signal),
      () => endPeering(pair, signal),
    );
  /** Waits for an unfinished cleanup, or completes it: slices of a peering made during a cleanup are never replicated. */
  const cleanUpOldPeering = async (pair: Pair, peer: Peer, signal: AbortSignal): Promise<JobResult> => {
    if (!isTerminating(await reads.foreignCluster(pair.liqoId))) return undefined;
    const limits = { withinMs: TERMINATION_MS, signal };
    const isSettled = await settles(pair.liqoId, (seen) => !isTerminating(seen), limits);
    return isSettled || signal.aborted ? undefined : await repair(pair, peer, signal);
  };
  /** Deletes this agent's slices that were not replicated to the provider, then the peering. */
  const endPeeringFirst = async (pair: Pair, _: Peer, signal: AbortSignal): Promise<JobResult> => {
    for (const { metadata, status } of await reads.slicesTo(pair.liqoId)) {
      const { name, namespace = "", labels = {} } = metadata;
      const isReplicated = (status?.conditions ?? []).length > 0;
      if (labels[RESERVATION_LABEL] === undefined || isReplicated) continue;
      await client.delete(RESOURCE_SLICES, { name, namespace }).catch(ignoring("not-found"));
    }
    return (await problemIfInUse(pair)) ?? (await endPeering(pair, signal));
  };

  return {
    settles,
    setUnreachable,
    problemIfInUse,
    endIdentity,
    repair,
    cleanUpOldPeering,
    endPeeringFirst,
  };
}

/** Takes the steps until one has a problem or the job is aborted. */
export async function inOrder(
  signal: AbortSignal,
  ...steps: readonly (() => Promise<JobResult>)[]
): Promise<JobResult> {
  for (const step of steps) {
    const problem = await step();
    if (problem !== undefined || signal.aborted) return problem;
  }
  return undefined;
}
