import type { LiqoIdentity } from "@resource-broker/domain";
import { type KubeClient, toFault } from "@resource-broker/kube";
import {
  type Access,
  forceUnpeerArguments,
  type GatewayType,
  type Peering,
  peerArguments,
  unauthenticateArguments,
  unpeerArguments,
} from "../liqoctl/arguments.ts";
import { type ForeignAccess, foreignText } from "../liqoctl/foreign-access.ts";
import type { Found, Kubeconfigs } from "../liqoctl/kubeconfigs.ts";
import { shownOutput } from "../liqoctl/output.ts";
import type { PrivateFiles } from "../liqoctl/private-file.ts";
import { NOT_THERE, type RunLiqoctl } from "../liqoctl/run-liqoctl.ts";
import { tenantNamespaceOf } from "../objects/labels.ts";
import { deleteCommand } from "../objects/resource-slice.ts";
import type { ClusterReads } from "./cluster-reads.ts";
import { borrowsHere, isHeld, isLettingGo } from "./foreign-cluster-state.ts";
import { identityAt } from "./identity-at.ts";
import type { LetGo } from "./let-go.ts";
import type { Job, JobEnd } from "./peering-jobs.ts";
import type { Peerings } from "./peerings.ts";
import { type Standing, standingAt } from "./standing.ts";
import { versionProblem } from "./version-problem.ts";
import { ensureTenantAccess } from "./tenant-access.ts";

export interface PeerWorkOptions {
  /** The cluster ID of this cluster at the broker. */
  readonly clusterId: string;
  /** How liqoctl reaches this cluster where the folder has no kubeconfig for it. */
  readonly ownAccess: Access;
  readonly liqoNamespace: string;
  readonly gatewayType: GatewayType;
  readonly hasNetworking: boolean;
  readonly timeoutMs: number;
}

export interface PeerWorkDeps {
  readonly client: Pick<KubeClient, "list" | "create">;
  /** A client for another cluster; `origin` is for messages. */
  readonly connect: (access: ForeignAccess, origin: string) => Promise<Pick<KubeClient, "list" | "close">>;
  readonly kubeconfigs: Kubeconfigs;
  readonly lend: PrivateFiles["lend"];
  /** Records that liqoctl is about to peer, before it does, and that it could not be started. */
  readonly marks: Pick<Peerings, "begin" | "takeBack">;
  readonly reads: Pick<ClusterReads, "foreignCluster" | "slicesTo">;
  readonly letGo: LetGo;
  readonly run: RunLiqoctl;
}

/** The two clusters of a peering, with their IDs at the broker and in Liqo. */
export interface Pair {
  readonly clusterId: string;
  readonly liqoId: string;
  /** This cluster's ID in Liqo according to the broker; undefined: unknown. */
  readonly ownLiqoId: string | undefined;
}

type Named = Pick<Pair, "clusterId" | "liqoId">;
type Provider = Extract<Found, { readonly kind: "found" }>;
type Remote =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly obstacle: NonNullable<JobEnd> };

/** Creates the jobs that run liqoctl. */
export interface PeerWork {
  readonly peer: (pair: Pair) => Job;
  /** Ends the old peering first, because the replicator does not serve it. */
  readonly peerAnew: (pair: Pair) => Job;
  readonly unpeer: (pair: Named) => Job;
  readonly forceUnpeer: (liqoId: string) => Job;
  /** Whether the provider still accepts this cluster as a tenant, as far as can be found out. */
  readonly standing: (pair: Pair, remoteNamespace: string | undefined) => Promise<Standing>;
  /** True when a kubeconfig was replaced since the last attempt with this cluster. */
  readonly hasNewKubeconfig: (clusterId: string) => Promise<boolean>;
}

/** `liqoctl unpeer` waits for the other cluster. */
const UNPEER_MS = 120_000;
/** Liqo cleans up within about a second, or not at all when it lacks rights. */
const LET_GO_MS = 15_000;
/** With its rights back, Liqo retries after a backoff that has grown meanwhile. */
const REPAIR_MS = 120_000;
/** liqoctl ends at its own timeout; only a hanging process is killed. */
const GRACE_MS = 15_000;

export function peerWork(options: PeerWorkOptions, deps: PeerWorkDeps): PeerWork {
  const { client, kubeconfigs, run, lend } = deps;
  const { liqoNamespace } = options;
  const stamps = new Map<string, string>();
  const stampOf = async (clusterId: string): Promise<string> =>
    (await Promise.all([clusterId, options.clusterId].map(kubeconfigs.stampOf))).join();

  const jobOf = (kind: Job["kind"], timeoutMs: number, work: Job["work"]): Job => ({
    kind,
    timeoutMs: timeoutMs + GRACE_MS,
    work,
  });
  /** The own cluster's kubeconfig in the folder is checked as strictly as the others. */
  const withOwn = async (act: (local: Access) => Promise<JobEnd>): Promise<JobEnd> => {
    const found = await kubeconfigs.of(options.clusterId);
    if (found.kind === "found") {
      return await lend(foreignText(found.access), (kubeconfig) => act({ kubeconfig }));
    }
    if (found.kind === "missing" || found.reason === "ClusterIDRefused") return await act(options.ownAccess);
    const remedy = "or remove it, and liqoctl uses the agent's --kubeconfig";
    return { reason: found.reason, message: `${found.problem}; ${remedy}` };
  };
  const ranWell = async (
    args: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<JobEnd> => {
    const { code, output } = await run(args, { timeoutMs: timeoutMs + GRACE_MS, signal });
    if (code === 0) return undefined;
    if (code === NOT_THERE) return { reason: "LiqoctlMissing", message: output };
    const ended = code === undefined ? "was killed" : `ended with ${code}`;
    return { reason: "PeeringFailed", message: `liqoctl ${args[0]} ${ended}:\n${shownOutput(output)}` };
  };
  const withProvider = async (
    clusterId: string,
    act: (provider: Provider) => Promise<JobEnd>,
  ): Promise<JobEnd> => {
    stamps.set(clusterId, await stampOf(clusterId));
    const found = await kubeconfigs.of(clusterId);
    if (found.kind === "found") return await act(found);
    const reason = found.kind === "missing" ? "KubeconfigMissing" : found.reason;
    return { reason, message: found.problem };
  };
  const withBoth = (
    { access }: Provider,
    timeoutMs: number,
    act: (peering: Peering) => Promise<JobEnd>,
  ): Promise<JobEnd> =>
    withOwn((local) =>
      lend(foreignText(access), (remoteKubeconfig) =>
        act({ local, remoteKubeconfig, liqoNamespace, timeoutMs }),
      ),
    );

  /** Checks both clusters before anything is changed. */
  const check = async (pair: Pair, provider: Provider): Promise<JobEnd> => {
    const here = await identityAt(client, liqoNamespace);
    if (here === undefined) {
      const message = `Liqo is not installed in namespace ${liqoNamespace} of this cluster: install it, or set --liqo-mode=off`;
      return { reason: "LiqoMissing", message };
    }
    const there = await remoteIdentity(pair, provider);
    if (!there.ok) return there.obstacle;
    return (
      ownProblem(pair, here) ??
      versionProblem(pair, here.version, there.version) ??
      leaving(pair, here, provider)
    );
  };
  /** liqoctl would reuse a Tenant that is being deleted, and the new peering would lose it a moment later. */
  const leaving = async (pair: Named, here: LiqoIdentity, { access, path }: Provider): Promise<JobEnd> => {
    const namespace = tenantNamespaceOf(here.clusterId);
    if ((await standingAt(namespace, () => deps.connect(access, path))) !== "leaving") return undefined;
    const message = `${pair.clusterId} is still ending an earlier peering: Tenant ${here.clusterId} in its ${namespace}`;
    return { reason: "TenantLeaving", message };
  };
  /** liqoctl uses whatever cluster the file points to, and the file may have been replaced. */
  const remoteIdentity = async (pair: Named, { access, path }: Provider): Promise<Remote> => {
    try {
      const remote = await deps.connect(access, path);
      const there = await identityAt(remote, liqoNamespace).finally(() => remote.close());
      if (there?.clusterId === pair.liqoId) return { ok: true, version: there.version };
      const found = there === undefined ? "no Liqo" : `Liqo's cluster ${there.clusterId}`;
      const message = `the kubeconfig of ${pair.clusterId} leads to ${found} instead of ${pair.liqoId}: replace it`;
      return { ok: false, obstacle: { reason: "IdentityMismatch", message } };
    } catch (error) {
      const { code, message } = toFault(error);
      const reason = code === "invalid" ? "KubeconfigRefused" : "ProviderUnreachable";
      return { ok: false, obstacle: { reason, message: `with ${path}: ${message}` } };
    }
  };

  /** Unpeering would delete these slices, and they block Liqo's cleanup. */
  const inUse = async ({ clusterId, liqoId }: Named): Promise<JobEnd> => {
    const [slice] = (await deps.reads.slicesTo(liqoId)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    if (slice === undefined) return undefined;
    const what = `ResourceSlice ${slice.metadata.name} uses the peering with ${clusterId}`;
    return { reason: "PeeringInUse", message: `${what}; to end that: ${deleteCommand(slice)}` };
  };
  const runPeer = async ({ liqoId }: Named, peering: Peering, signal: AbortSignal): Promise<JobEnd> => {
    const { timeoutMs } = options;
    // With another account, liqoctl uses that account's rights.
    const isOwn = peering.local === options.ownAccess;
    const missing = isOwn ? await ensureTenantAccess(client, liqoId) : undefined;
    if (missing !== undefined || signal.aborted) return missing;
    return await ranWell(peerArguments({ ...options, ...peering, timeoutMs }), timeoutMs, signal);
  };
  const untilFree = (liqoId: string, withinMs: number, signal: AbortSignal): Promise<boolean> =>
    deps.letGo.wait(liqoId, { isSo: (seen) => !isHeld(seen), withinMs, signal });
  /** Deletes the Identity while the provider still accepts it: Liqo needs those rights to clean up. */
  const endIdentity = async ({ liqoId }: Named, withinMs: number, signal: AbortSignal): Promise<boolean> => {
    await deps.letGo.endIdentity(liqoId);
    return await untilFree(liqoId, withinMs, signal);
  };
  const endPeering = async (pair: Named, signal: AbortSignal): Promise<JobEnd> => {
    if (await endIdentity(pair, REPAIR_MS, signal)) return undefined;
    const remedy = `restart Liqo's crd-replicator (kubectl rollout restart deployment liqo-crd-replicator -n ${liqoNamespace})`;
    const message = `Liqo does not finish the cleanup of an earlier peering with ${pair.clusterId}: ${remedy}`;
    return { reason: "LiqoHoldsOn", message };
  };
  /** If the rights were removed first, Liqo waits forever. Peering again restores them, and the cleanup can finish. */
  const repair = async (pair: Named, peering: Peering, signal: AbortSignal): Promise<JobEnd> => {
    const problem = (await inUse(pair)) ?? (await runPeer(pair, peering, signal));
    return problem !== undefined || signal.aborted ? problem : await endPeering(pair, signal);
  };
  /** A new peering on top of an unfinished cleanup does not work: its slices are never replicated. */
  const makeRoom = async (pair: Pair, peering: Peering, signal: AbortSignal): Promise<JobEnd> => {
    const { reads, letGo } = deps;
    if (!isLettingGo(await reads.foreignCluster(pair.liqoId))) return undefined;
    const isSettled = await letGo.wait(pair.liqoId, {
      isSo: (seen) => !isLettingGo(seen),
      withinMs: LET_GO_MS,
      signal,
    });
    return isSettled || signal.aborted ? undefined : await repair(pair, peering, signal);
  };
  const makeRoomAnew = async (pair: Pair, _: Peering, signal: AbortSignal): Promise<JobEnd> => {
    await deps.letGo.endSlices(pair.liqoId);
    return (await inUse(pair)) ?? (await endPeering(pair, signal));
  };
  const peerAfter = (prepare: typeof makeRoom, pair: Pair): Job =>
    jobOf("peer", LET_GO_MS + REPAIR_MS + 2 * options.timeoutMs, (signal) =>
      withProvider(pair.clusterId, async (provider) => {
        const problem = await check(pair, provider);
        if (problem !== undefined || signal.aborted) return problem;
        return await withBoth(provider, options.timeoutMs, async (peering) => {
          const isFirst = await deps.marks.begin(pair.liqoId);
          const obstacle = await prepare(pair, peering, signal);
          const isHalted = obstacle !== undefined || signal.aborted;
          const end = isHalted ? obstacle : await runPeer(pair, peering, signal);
          if (isFirst && end?.reason === "LiqoctlMissing") await deps.marks.takeBack(pair.liqoId);
          return end;
        });
      }),
    );
  const unpeerBoth = async (pair: Named, peering: Peering, signal: AbortSignal): Promise<JobEnd> => {
    const problem = await inUse(pair);
    if (problem !== undefined || signal.aborted) return problem;
    const isGone = await endIdentity(pair, LET_GO_MS, signal);
    const wedge = isGone || signal.aborted ? undefined : await repair(pair, peering, signal);
    if (wedge !== undefined || signal.aborted) return wedge;
    // liqoctl unpeer removes the network of both directions, unless it finds the other direction when it starts.
    const seen = await deps.reads.foreignCluster(pair.liqoId);
    const hasNetwork = options.hasNetworking && seen !== undefined && !borrowsHere(seen);
    const args = hasNetwork ? unpeerArguments(peering) : unauthenticateArguments(peering);
    return await ranWell(args, UNPEER_MS, signal);
  };

  return {
    peer: (pair) => peerAfter(makeRoom, pair),
    peerAnew: (pair) => peerAfter(makeRoomAnew, pair),
    unpeer: (pair) =>
      jobOf("unpeer", LET_GO_MS + REPAIR_MS + options.timeoutMs + UNPEER_MS, (signal) =>
        withProvider(pair.clusterId, async (provider) => {
          const there = await remoteIdentity(pair, provider);
          if (!there.ok) return there.obstacle;
          return await withBoth(provider, UNPEER_MS, (peering) => unpeerBoth(pair, peering, signal));
        }),
      ),
    standing: async ({ clusterId, ownLiqoId }, remoteNamespace) => {
      const namespace = remoteNamespace ?? (ownLiqoId && tenantNamespaceOf(ownLiqoId));
      const found = await kubeconfigs.of(clusterId);
      if (namespace === undefined || found.kind !== "found") return "unknown";
      return await standingAt(namespace, () => deps.connect(found.access, found.path));
    },
    hasNewKubeconfig: async (clusterId) => {
      const before = stamps.get(clusterId);
      return before !== undefined && before !== (await stampOf(clusterId));
    },
    forceUnpeer: (liqoId) =>
      jobOf("force-unpeer", UNPEER_MS + LET_GO_MS, (signal) =>
        withOwn(async (local) => {
          const problem = await ranWell(forceUnpeerArguments(liqoId, local), UNPEER_MS, signal);
          if (problem === undefined) await untilFree(liqoId, LET_GO_MS, signal);
          return problem;
        }),
      ),
  };
}

function ownProblem({ ownLiqoId }: Pair, { clusterId }: LiqoIdentity): JobEnd {
  if (ownLiqoId === undefined || ownLiqoId === clusterId) return undefined;
  const message = `this cluster's ID in Liqo is ${clusterId}, but the broker has ${ownLiqoId}: wait for the next advertisement`;
  return { reason: "IdentityMismatch", message };
}
