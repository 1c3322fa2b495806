import type { Clock } from "@resource-broker/base";
import { type KubeClient, wait } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { MANAGER } from "../../manifests/labels.ts";
import { type FoundKubeconfig, type KubeconfigDeps, lentKubeconfigs } from "../liqoctl/kubeconfigs.ts";
import {
  type Access,
  EXIT_NOT_FOUND,
  forceUnpeerArguments,
  type GatewayType,
  type Peering,
  peerArguments,
  type RunLiqoctl,
  shownOutput,
  unauthenticateArguments,
  unpeerArguments,
} from "../liqoctl/run-liqoctl.ts";
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
import {
  ensureTenantAccess,
  type PeeringChecksDeps,
  peeringProblem,
  remoteIdentity,
  type TenantStatus,
  tenantStatusAt,
} from "./peering-checks.ts";
import type { Job, JobResult } from "./peering-job-runner.ts";
import type { PeeringMarkers } from "./peering-marker.ts";
import { isConsumer, isProvider, isTerminating } from "./plan-peering.ts";
import type { JobName, Pair } from "./steps.ts";

export interface PeeringJobsOptions {
  /** The cluster ID of this cluster at the broker. */
  readonly clusterId: string;
  /** How liqoctl reaches this cluster if the kubeconfig folder has no kubeconfig for it. */
  readonly ownAccess: Access;
  readonly liqoNamespace: string;
  readonly gatewayType: GatewayType;
  readonly hasNetworking: boolean;
  readonly timeoutMs: number;
}

export interface PeeringJobsDeps extends KubeconfigDeps, Pick<PeeringChecksDeps, "connect"> {
  readonly client: Pick<KubeClient, "list" | "create" | "patch" | "delete">;
  /** Records that liqoctl is about to peer; the record is removed if liqoctl cannot be started. */
  readonly markers: Pick<PeeringMarkers, "setBegun">;
  readonly reads: Pick<ClusterReads, "foreignCluster" | "slicesTo">;
  readonly run: RunLiqoctl;
  readonly clock: Clock;
}

/** `liqoctl unpeer` waits for the other cluster. */
const UNPEER_MS = 120_000;
/** Liqo cleans up within about a second, or not at all when it lacks rights. */
const TERMINATION_MS = 15_000;
/** After its rights are restored, Liqo retries only after its grown backoff. */
const REPAIR_MS = 120_000;
/** liqoctl ends at its own timeout; only a hanging process is killed. */
const GRACE_MS = 15_000;
/** Liqo reconciles a ForeignCluster when a label changes, but does not watch what it waits for. */
const TOUCH_LABEL = "rear.fluidos.eu/look-again";
const MIN_POLL_MS = 500;
const MAX_POLL_MS = 5000;

/** Creates the jobs that run liqoctl. */
export function peeringJobs(options: PeeringJobsOptions, deps: PeeringJobsDeps) {
  const { client, clock, markers, reads, run } = deps;
  const { liqoNamespace } = options;
  const checksDeps = { ...deps, liqoNamespace };
  const lent = lentKubeconfigs(options, deps);
  const withBothKubeconfigs = (
    provider: FoundKubeconfig,
    timeoutMs: number,
    act: (peering: Peering) => Promise<JobResult>,
  ): Promise<JobResult> =>
    lent.withOwn((local) =>
      lent.withFileOf(provider, (remoteKubeconfig) =>
        act({ local, remoteKubeconfig, liqoNamespace, timeoutMs }),
      ),
    );
  const runChecked = async (
    args: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<JobResult> => {
    const { code, output } = await run(args, { timeoutMs: timeoutMs + GRACE_MS, signal });
    if (code === 0) return undefined;
    if (code === EXIT_NOT_FOUND) return { reason: "LiqoctlMissing", message: output };
    const ended = code === undefined ? "was killed" : `ended with ${code}`;
    return { reason: "PeeringFailed", message: `liqoctl ${args[0]} ${ended}:\n${shownOutput(output)}` };
  };

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

  /** A slice that uses the peering: unpeering would delete it, and it blocks Liqo's cleanup. */
  const problemIfInUse = async ({ clusterId, liqoId }: Pair): Promise<JobResult> => {
    const [slice] = (await reads.slicesTo(liqoId)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    if (slice === undefined) return undefined;
    const what = `ResourceSlice ${slice.metadata.name} uses the peering with ${clusterId}`;
    return { reason: "PeeringInUse", message: `${what}; to end that: ${deleteCommand(slice)}` };
  };
  const runPeer = async ({ liqoId }: Pair, peering: Peering, signal: AbortSignal): Promise<JobResult> => {
    const { timeoutMs } = options;
    // With a kubeconfig from the folder, liqoctl uses the rights of that account.
    const isOwn = peering.local === options.ownAccess;
    return await inOrder(
      signal,
      async () => (isOwn ? await ensureTenantAccess(client, liqoId) : undefined),
      () => runChecked(peerArguments({ ...options, ...peering, timeoutMs }), timeoutMs, signal),
    );
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
  const repair = (pair: Pair, peering: Peering, signal: AbortSignal): Promise<JobResult> =>
    inOrder(
      signal,
      () => problemIfInUse(pair),
      () => runPeer(pair, peering, signal),
      () => endPeering(pair, signal),
    );
  /** Waits for an unfinished cleanup, or completes it: slices of a peering made during a cleanup are never replicated. */
  const cleanUpOldPeering = async (pair: Pair, peering: Peering, signal: AbortSignal): Promise<JobResult> => {
    if (!isTerminating(await reads.foreignCluster(pair.liqoId))) return undefined;
    const limits = { withinMs: TERMINATION_MS, signal };
    const isSettled = await settles(pair.liqoId, (seen) => !isTerminating(seen), limits);
    return isSettled || signal.aborted ? undefined : await repair(pair, peering, signal);
  };
  /** Deletes this agent's slices that were not replicated to the provider, then the peering. */
  const endPeeringFirst = async (pair: Pair, _: Peering, signal: AbortSignal): Promise<JobResult> => {
    for (const { metadata, status } of await reads.slicesTo(pair.liqoId)) {
      const { name, namespace = "", labels = {} } = metadata;
      const isReplicated = (status?.conditions ?? []).length > 0;
      if (labels[RESERVATION_LABEL] === undefined || isReplicated) continue;
      await client.delete(RESOURCE_SLICES, { name, namespace }).catch(ignoring("not-found"));
    }
    return (await problemIfInUse(pair)) ?? (await endPeering(pair, signal));
  };
  const runUnpeer = async (pair: Pair, peering: Peering, signal: AbortSignal): Promise<JobResult> => {
    // liqoctl unpeer removes the network of both directions, unless it finds the other direction when it starts.
    const seen = await reads.foreignCluster(pair.liqoId);
    const hasNetwork = options.hasNetworking && seen !== undefined && !isConsumer(seen);
    const args = hasNetwork ? unpeerArguments(peering) : unauthenticateArguments(peering);
    return await runChecked(args, UNPEER_MS, signal);
  };

  const peerAfter = (prepare: typeof cleanUpOldPeering, pair: Pair): Job => ({
    kind: "peer",
    timeoutMs: TERMINATION_MS + REPAIR_MS + 2 * options.timeoutMs + GRACE_MS,
    work: (signal) =>
      lent.withProvider(pair.clusterId, (provider) =>
        inOrder(
          signal,
          () => peeringProblem(pair, provider, checksDeps),
          () =>
            withBothKubeconfigs(provider, options.timeoutMs, async (peering) => {
              const isFirst = await markers.setBegun(pair.liqoId, true);
              const end = await inOrder(
                signal,
                () => prepare(pair, peering, signal),
                () => runPeer(pair, peering, signal),
              );
              if (isFirst && end?.reason === "LiqoctlMissing") await markers.setBegun(pair.liqoId, false);
              return end;
            }),
        ),
      ),
  });
  const unpeer = (pair: Pair): Job => ({
    kind: "unpeer",
    timeoutMs: TERMINATION_MS + REPAIR_MS + options.timeoutMs + UNPEER_MS + GRACE_MS,
    work: (signal) =>
      lent.withProvider(pair.clusterId, async (provider) => {
        const remote = await remoteIdentity(pair, provider, checksDeps);
        if (!remote.ok) return remote.obstacle;
        return await withBothKubeconfigs(provider, UNPEER_MS, (peering) =>
          inOrder(
            signal,
            () => problemIfInUse(pair),
            async () => {
              const isGone = await endIdentity(pair, TERMINATION_MS, signal);
              return isGone || signal.aborted ? undefined : await repair(pair, peering, signal);
            },
            () => runUnpeer(pair, peering, signal),
          ),
        );
      }),
  });
  const forceUnpeer = ({ liqoId }: Pair): Job => ({
    kind: "force-unpeer",
    timeoutMs: UNPEER_MS + TERMINATION_MS + GRACE_MS,
    work: (signal) =>
      lent.withOwn(async (local) => {
        const problem = await runChecked(forceUnpeerArguments(liqoId, local), UNPEER_MS, signal);
        const limits = { withinMs: TERMINATION_MS, signal };
        if (problem === undefined) await settles(liqoId, (seen) => !isProvider(seen), limits);
        return problem;
      }),
  });
  const makers: Readonly<Record<JobName, (pair: Pair) => Job>> = {
    peer: (pair) => peerAfter(cleanUpOldPeering, pair),
    "peer-again": (pair) => peerAfter(endPeeringFirst, pair),
    unpeer,
    "force-unpeer": forceUnpeer,
  };

  return {
    create: (kind: JobName, pair: Pair): Job => makers[kind](pair),
    tenantStatus: async (pair: Pair, remoteNamespace: string | undefined): Promise<TenantStatus> => {
      const namespace = remoteNamespace ?? (pair.ownLiqoId && tenantNamespaceOf(pair.ownLiqoId));
      const found = await deps.kubeconfigs.of(pair.clusterId);
      if (namespace === undefined || found.kind !== "found") return "unknown";
      return await tenantStatusAt(namespace, deps.connect(found.access));
    },
    hasNewKubeconfig: lent.isNew,
  };
}

/** Takes the steps until one has a problem or the job is aborted. */
async function inOrder(
  signal: AbortSignal,
  ...steps: readonly (() => Promise<JobResult>)[]
): Promise<JobResult> {
  for (const step of steps) {
    const problem = await step();
    if (problem !== undefined || signal.aborted) return problem;
  }
  return undefined;
}
