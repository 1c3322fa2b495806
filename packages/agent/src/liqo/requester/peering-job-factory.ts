import type { KubeClient } from "@resource-broker/kube";
import { type ForeignAccess, foreignText } from "../liqoctl/foreign-access.ts";
import type { Kubeconfigs } from "../liqoctl/kubeconfigs.ts";
import type { PrivateFiles } from "../liqoctl/private-file.ts";
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
import { deleteCommand } from "../objects/authentication.ts";
import { tenantNamespaceOf } from "../objects/labels.ts";
import type { ClusterReads } from "./cluster-reads.ts";
import { isConsumer, isProvider, isTerminating } from "./foreign-cluster-state.ts";
import {
  type ClusterRef,
  type Pair,
  type ProviderKubeconfig,
  peeringChecks,
  type TenantStatus,
  tenantStatusAt,
} from "./peering-checks.ts";
import type { Job, JobResult } from "./peering-job-runner.ts";
import type { PeeringStore } from "./peering-store.ts";
import type { PeeringTeardown } from "./peering-teardown.ts";
import { ensureTenantAccess } from "./tenant-access.ts";

export interface PeeringJobFactoryOptions {
  /** The cluster ID of this cluster at the broker. */
  readonly clusterId: string;
  /** How liqoctl reaches this cluster if the kubeconfig folder has no kubeconfig for it. */
  readonly ownAccess: Access;
  readonly liqoNamespace: string;
  readonly gatewayType: GatewayType;
  readonly hasNetworking: boolean;
  readonly timeoutMs: number;
}

export interface PeeringJobFactoryDeps {
  readonly client: Pick<KubeClient, "list" | "create">;
  /** Opens a client for another cluster; `origin` is for messages. */
  readonly connect: (access: ForeignAccess, origin: string) => Promise<Pick<KubeClient, "list" | "close">>;
  readonly kubeconfigs: Kubeconfigs;
  readonly withFile: PrivateFiles["withFile"];
  /** Records that liqoctl is about to peer; the record is removed if liqoctl cannot be started. */
  readonly peerings: Pick<PeeringStore, "markBegun" | "unmarkBegun">;
  readonly reads: Pick<ClusterReads, "foreignCluster" | "slicesTo">;
  readonly teardown: PeeringTeardown;
  readonly run: RunLiqoctl;
}

/** Creates the jobs that run liqoctl. */
export interface PeeringJobFactory {
  readonly peer: (pair: Pair) => Job;
  /** Ends the old peering first, because Liqo's replicator ignores it. */
  readonly peerAgain: (pair: Pair) => Job;
  readonly unpeer: (pair: ClusterRef) => Job;
  readonly forceUnpeer: (liqoId: string) => Job;
  /** Whether the provider still accepts this cluster as a tenant, as far as can be found out. */
  readonly tenantStatus: (pair: Pair, remoteNamespace: string | undefined) => Promise<TenantStatus>;
  /** True when a kubeconfig was replaced since the last attempt with this cluster. */
  readonly hasNewKubeconfig: (clusterId: string) => Promise<boolean>;
}

/** `liqoctl unpeer` waits for the other cluster. */
const UNPEER_MS = 120_000;
/** Liqo cleans up within about a second, or not at all when it lacks rights. */
const TERMINATION_MS = 15_000;
/** After its rights are restored, Liqo retries only after its grown backoff. */
const REPAIR_MS = 120_000;
/** liqoctl ends at its own timeout; only a hanging process is killed. */
const GRACE_MS = 15_000;

export function peeringJobFactory(
  options: PeeringJobFactoryOptions,
  deps: PeeringJobFactoryDeps,
): PeeringJobFactory {
  const { client, kubeconfigs, run, withFile } = deps;
  const { liqoNamespace } = options;
  const checks = peeringChecks({ ...deps, liqoNamespace });
  const fingerprints = new Map<string, string>();
  const fingerprintOf = async (clusterId: string): Promise<string> =>
    (await Promise.all([clusterId, options.clusterId].map(kubeconfigs.fingerprintOf))).join();

  const jobOf = (kind: Job["kind"], timeoutMs: number, work: Job["work"]): Job => ({
    kind,
    timeoutMs: timeoutMs + GRACE_MS,
    work,
  });
  /** A kubeconfig for the own cluster in the folder is checked as strictly as the others. */
  const withOwnKubeconfig = async (act: (local: Access) => Promise<JobResult>): Promise<JobResult> => {
    const found = await kubeconfigs.of(options.clusterId);
    if (found.kind === "found") {
      return await withFile(foreignText(found.access), (kubeconfig) => act({ kubeconfig }));
    }
    if (found.kind === "missing" || found.reason === "ClusterIDRefused") return await act(options.ownAccess);
    const remedy = "or remove it, and liqoctl uses the agent's --kubeconfig";
    return { reason: found.reason, message: `${found.problem}; ${remedy}` };
  };
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
  const withProvider = async (
    clusterId: string,
    act: (provider: ProviderKubeconfig) => Promise<JobResult>,
  ): Promise<JobResult> => {
    fingerprints.set(clusterId, await fingerprintOf(clusterId));
    const found = await kubeconfigs.of(clusterId);
    if (found.kind === "found") return await act(found);
    const reason = found.kind === "missing" ? "KubeconfigMissing" : found.reason;
    return { reason, message: found.problem };
  };
  const withBothKubeconfigs = (
    { access }: ProviderKubeconfig,
    timeoutMs: number,
    act: (peering: Peering) => Promise<JobResult>,
  ): Promise<JobResult> =>
    withOwnKubeconfig((local) =>
      withFile(foreignText(access), (remoteKubeconfig) =>
        act({ local, remoteKubeconfig, liqoNamespace, timeoutMs }),
      ),
    );

  /** A slice that uses the peering: unpeering would delete it, and it blocks Liqo's cleanup. */
  const problemIfInUse = async ({ clusterId, liqoId }: ClusterRef): Promise<JobResult> => {
    const [slice] = (await deps.reads.slicesTo(liqoId)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    if (slice === undefined) return undefined;
    const what = `ResourceSlice ${slice.metadata.name} uses the peering with ${clusterId}`;
    return { reason: "PeeringInUse", message: `${what}; to end that: ${deleteCommand(slice)}` };
  };
  const runPeer = async (
    { liqoId }: ClusterRef,
    peering: Peering,
    signal: AbortSignal,
  ): Promise<JobResult> => {
    const { timeoutMs } = options;
    // With a kubeconfig from the folder, liqoctl uses the rights of that account.
    const isOwn = peering.local === options.ownAccess;
    const missing = isOwn ? await ensureTenantAccess(client, liqoId) : undefined;
    if (missing !== undefined || signal.aborted) return missing;
    return await runChecked(peerArguments({ ...options, ...peering, timeoutMs }), timeoutMs, signal);
  };
  const waitUntilReleased = (liqoId: string, withinMs: number, signal: AbortSignal): Promise<boolean> =>
    deps.teardown.wait(liqoId, { isDone: (seen) => !isProvider(seen), withinMs, signal });
  /** Deletes the Identity while the provider still accepts it: Liqo needs those rights to clean up. */
  const endIdentity = async (
    { liqoId }: ClusterRef,
    withinMs: number,
    signal: AbortSignal,
  ): Promise<boolean> => {
    await deps.teardown.endIdentity(liqoId);
    return await waitUntilReleased(liqoId, withinMs, signal);
  };
  const endPeering = async (pair: ClusterRef, signal: AbortSignal): Promise<JobResult> => {
    if (await endIdentity(pair, REPAIR_MS, signal)) return undefined;
    const remedy = `restart Liqo's crd-replicator (kubectl rollout restart deployment liqo-crd-replicator -n ${liqoNamespace})`;
    const message = `Liqo does not finish the cleanup of an earlier peering with ${pair.clusterId}: ${remedy}`;
    return { reason: "LiqoHoldsOn", message };
  };
  /** If Liqo's rights were removed before its cleanup, the cleanup never ends. Peering again restores the rights. */
  const repair = async (pair: ClusterRef, peering: Peering, signal: AbortSignal): Promise<JobResult> => {
    const problem = (await problemIfInUse(pair)) ?? (await runPeer(pair, peering, signal));
    return problem !== undefined || signal.aborted ? problem : await endPeering(pair, signal);
  };
  /** Waits for an unfinished cleanup, or completes it: slices of a peering made during a cleanup are never replicated. */
  const cleanUpOldPeering = async (pair: Pair, peering: Peering, signal: AbortSignal): Promise<JobResult> => {
    const { reads, teardown } = deps;
    if (!isTerminating(await reads.foreignCluster(pair.liqoId))) return undefined;
    const isSettled = await teardown.wait(pair.liqoId, {
      isDone: (seen) => !isTerminating(seen),
      withinMs: TERMINATION_MS,
      signal,
    });
    return isSettled || signal.aborted ? undefined : await repair(pair, peering, signal);
  };
  const endPeeringFirst = async (pair: Pair, _: Peering, signal: AbortSignal): Promise<JobResult> => {
    await deps.teardown.endSlices(pair.liqoId);
    return (await problemIfInUse(pair)) ?? (await endPeering(pair, signal));
  };
  const peerAfter = (prepare: typeof cleanUpOldPeering, pair: Pair): Job =>
    jobOf("peer", TERMINATION_MS + REPAIR_MS + 2 * options.timeoutMs, (signal) =>
      withProvider(pair.clusterId, async (provider) => {
        const problem = await checks.checkPeering(pair, provider);
        if (problem !== undefined || signal.aborted) return problem;
        return await withBothKubeconfigs(provider, options.timeoutMs, async (peering) => {
          const isFirst = await deps.peerings.markBegun(pair.liqoId);
          const obstacle = await prepare(pair, peering, signal);
          const isStopped = obstacle !== undefined || signal.aborted;
          const end = isStopped ? obstacle : await runPeer(pair, peering, signal);
          if (isFirst && end?.reason === "LiqoctlMissing") await deps.peerings.unmarkBegun(pair.liqoId);
          return end;
        });
      }),
    );
  const unpeerBoth = async (pair: ClusterRef, peering: Peering, signal: AbortSignal): Promise<JobResult> => {
    const problem = await problemIfInUse(pair);
    if (problem !== undefined || signal.aborted) return problem;
    const isGone = await endIdentity(pair, TERMINATION_MS, signal);
    const repairProblem = isGone || signal.aborted ? undefined : await repair(pair, peering, signal);
    if (repairProblem !== undefined || signal.aborted) return repairProblem;
    // liqoctl unpeer removes the network of both directions, unless it finds the other direction when it starts.
    const seen = await deps.reads.foreignCluster(pair.liqoId);
    const hasNetwork = options.hasNetworking && seen !== undefined && !isConsumer(seen);
    const args = hasNetwork ? unpeerArguments(peering) : unauthenticateArguments(peering);
    return await runChecked(args, UNPEER_MS, signal);
  };

  return {
    peer: (pair) => peerAfter(cleanUpOldPeering, pair),
    peerAgain: (pair) => peerAfter(endPeeringFirst, pair),
    unpeer: (pair) =>
      jobOf("unpeer", TERMINATION_MS + REPAIR_MS + options.timeoutMs + UNPEER_MS, (signal) =>
        withProvider(pair.clusterId, async (provider) => {
          const remote = await checks.remoteIdentity(pair, provider);
          if (!remote.ok) return remote.obstacle;
          return await withBothKubeconfigs(provider, UNPEER_MS, (peering) =>
            unpeerBoth(pair, peering, signal),
          );
        }),
      ),
    forceUnpeer: (liqoId) =>
      jobOf("force-unpeer", UNPEER_MS + TERMINATION_MS, (signal) =>
        withOwnKubeconfig(async (local) => {
          const problem = await runChecked(forceUnpeerArguments(liqoId, local), UNPEER_MS, signal);
          if (problem === undefined) await waitUntilReleased(liqoId, TERMINATION_MS, signal);
          return problem;
        }),
      ),
    tenantStatus: async ({ clusterId, ownLiqoId }, remoteNamespace) => {
      const namespace = remoteNamespace ?? (ownLiqoId && tenantNamespaceOf(ownLiqoId));
      const found = await kubeconfigs.of(clusterId);
      if (namespace === undefined || found.kind !== "found") return "unknown";
      return await tenantStatusAt(namespace, () => deps.connect(found.access, found.path));
    },
    hasNewKubeconfig: async (clusterId) => {
      const before = fingerprints.get(clusterId);
      return before !== undefined && before !== (await fingerprintOf(clusterId));
    },
  };
}
