import type { Clock } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
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
import { tenantNamespaceOf } from "../objects.ts";
import { inOrder, peeringEnds, REPAIR_MS, TERMINATION_MS } from "./end-peering.ts";
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
import { isConsumer, isProvider } from "./plan-peering.ts";
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
/** liqoctl ends at its own timeout; only a hanging process is killed. */
const GRACE_MS = 15_000;

/** Creates the jobs that run liqoctl. */
export function peeringJobs(options: PeeringJobsOptions, deps: PeeringJobsDeps) {
  const { client, markers, reads, run } = deps;
  const { liqoNamespace } = options;
  const checksDeps = { ...deps, liqoNamespace };
  const lent = lentKubeconfigs(options, deps);
  const ends = peeringEnds({ ...deps, liqoNamespace });
  const { problemIfInUse, endIdentity, repair, cleanUpOldPeering, endPeeringFirst } = ends;
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
                () => prepare(pair, (ending) => runPeer(pair, peering, ending), signal),
                // liqoctl force unpeer leaves it, of the agent or of a person.
                () => ends.setUnreachable(pair, false).then(() => undefined),
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
              if (isGone || signal.aborted) return undefined;
              return await repair(pair, (ending) => runPeer(pair, peering, ending), signal);
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
        if (problem === undefined) await ends.settles(liqoId, (seen) => !isProvider(seen), limits);
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
    refusal: (_pair: Pair): string | undefined => undefined,
    tenantRemedy: ({ clusterId }: Pair): string =>
      `peer again with ${clusterId} (liqoctl peer), or release the reservation`,
    hasNewKubeconfig: lent.isNew,
  };
}
