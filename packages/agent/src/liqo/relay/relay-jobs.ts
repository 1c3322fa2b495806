import type { Clock, ObjectMeta } from "@resource-broker/base";
import { type KubeClient, wait } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { MANAGER } from "../../manifests/labels.ts";
import { identityAt } from "../identity.ts";
import { LIQO_LABEL, NAMESPACE_MAPS, tenantNamespaceOf } from "../objects.ts";
import { inOrder, peeringEnds, REPAIR_MS, TERMINATION_MS } from "../requester/end-peering.ts";
import type { ClusterReads } from "../requester/observe.ts";
import type { TenantStatus } from "../requester/peering-checks.ts";
import type { Job, JobResult } from "../requester/peering-job-runner.ts";
import type { PeeringMarkers } from "../requester/peering-marker.ts";
import { isUnreachable } from "../requester/plan-peering.ts";
import type { JobName, Obstacle, Pair } from "../requester/steps.ts";
import type { StatementExchange } from "./exchange.ts";
import type { Identities } from "./identities.ts";
import type { RequesterShares } from "./requester-shares.ts";
import type { IdentityShare } from "./share-checks.ts";
import type { ProviderShare } from "./statement.ts";

export interface RelayJobsOptions {
  readonly liqoNamespace: string;
  readonly timeoutMs: number;
}

export interface RelayJobsDeps {
  readonly client: Pick<KubeClient, "list" | "patch" | "delete">;
  readonly markers: Pick<PeeringMarkers, "setBegun">;
  readonly reads: Pick<ClusterReads, "foreignCluster" | "slicesTo">;
  readonly exchange: Pick<StatementExchange, "heard" | "obstacle" | "lookAgain">;
  readonly shares: Pick<RequesterShares, "want" | "isWanted" | "problem">;
  readonly identities: Pick<Identities, "apply">;
  readonly clock: Clock;
}

type Answer = { readonly identity: IdentityShare } | { readonly obstacle: Obstacle };

const POLL_MS = 100;
/** A peer whose agent runs in relay mode answers within seconds. */
const SILENT_MS = 60_000;
/** Namespaces at the provider are removed while Liqo still has its rights there. */
const MAPS_MS = 30_000;
const TOUCH_ANNOTATION = "rear.fluidos.eu/look-again";

/** The jobs that peer by statements through the broker: this agent writes into its own cluster only. */
export function relayJobs(options: RelayJobsOptions, deps: RelayJobsDeps) {
  const { client, clock, exchange, markers, reads, shares } = deps;
  const { liqoNamespace } = options;
  const ends = peeringEnds({ ...deps, liqoNamespace });
  /** The newest statement at the end of the last attempt, by peer. */
  const tried = new Map<string, number | undefined>();

  const ownProblem = async ({ ownLiqoId }: Pair): Promise<JobResult> => {
    const here = await identityAt(client, liqoNamespace);
    if (here === undefined) {
      const message = `Liqo is not installed in namespace ${liqoNamespace} of this cluster: install it, or set --liqo-mode=off`;
      return { reason: "LiqoMissing", message };
    }
    if (ownLiqoId === undefined || ownLiqoId === here.clusterId) return undefined;
    const message = `this cluster's ID in Liqo is ${here.clusterId}, but the broker has ${ownLiqoId}: wait for the next advertisement`;
    return { reason: "IdentityMismatch", message };
  };

  /** What the provider's newest statement comes to; undefined: it must be waited for. */
  const answerOf = ({ clusterId, liqoId }: Pair): Answer | undefined => {
    const obstacle = shares.problem(clusterId) ?? exchange.obstacle(clusterId);
    if (obstacle !== undefined && obstacle.reason !== "StatementRefused") return { obstacle };
    const heard = exchange.heard(clusterId);
    if (heard === undefined) return undefined;
    if (heard.fromLiqoID !== liqoId) {
      const message = `${clusterId} says that it is ${heard.fromLiqoID} in Liqo, and the reservation names ${liqoId}: wait for its next advertisement`;
      return { obstacle: { reason: "IdentityMismatch", message } };
    }
    return heard.provider && answerIn(heard.provider, clusterId);
  };
  const answerIn = (
    { state, identity, message = "" }: ProviderShare,
    clusterId: string,
  ): Answer | undefined => {
    if (state === "signed" && identity !== undefined) return { identity };
    if (state !== "refused") return undefined;
    return { obstacle: { reason: "PeerRefused", message: `${clusterId} refuses: ${message}` } };
  };
  /** Undefined: the job is stopped. */
  const awaitAnswer = async (pair: Pair, signal: AbortSignal): Promise<Answer | undefined> => {
    const beganAt = clock.monotonicMs();
    while (!signal.aborted) {
      const answer = answerOf(pair);
      if (answer !== undefined) return answer;
      if (clock.monotonicMs() - beganAt >= SILENT_MS) return { obstacle: silence(pair.clusterId) };
      await wait(POLL_MS, { clock, signal });
    }
    return undefined;
  };
  const silence = (clusterId: string): Obstacle => {
    const obstacle = exchange.obstacle(clusterId);
    if (obstacle !== undefined) return obstacle;
    const hasAnswered = exchange.heard(clusterId)?.provider !== undefined;
    const what = hasAnswered ? "has not made a Tenant of this cluster yet" : "has not answered";
    const remedy = "is its agent running, with --liqo-mode=relay and its rights for that, and Liqo?";
    return { reason: "PeerSilent", message: `${clusterId} ${what}: ${remedy}` };
  };

  /** States what this cluster wants, and gives Liqo the identity that the provider's Liqo has signed. */
  const authenticate = async (pair: Pair, signal: AbortSignal): Promise<JobResult> => {
    shares.want(pair, true);
    exchange.lookAgain(pair.clusterId);
    const answer = await awaitAnswer(pair, signal);
    if (answer === undefined) return undefined;
    return "obstacle" in answer ? answer.obstacle : await deps.identities.apply(pair, answer.identity);
  };

  const peerAfter = (prepare: typeof ends.cleanUpOldPeering, pair: Pair): Job => ({
    kind: "peer",
    timeoutMs: TERMINATION_MS + REPAIR_MS + options.timeoutMs,
    work: async (signal) => {
      const end = await inOrder(
        signal,
        () => ownProblem(pair),
        async () => void (await markers.setBegun(pair.liqoId, true)),
        () => prepare(pair, (ending) => authenticate(pair, ending), signal),
        () => ends.setUnreachable(pair, false).then(() => undefined),
        () => authenticate(pair, signal),
      );
      tried.set(pair.clusterId, exchange.heard(pair.clusterId)?.generation);
      return end;
    },
  });

  /** Liqo's own namespace map of the pair; undefined: there is none. */
  const findMap = async ({ liqoId }: Pair): Promise<ObjectMeta | undefined> => {
    const found: ObjectMeta[] = [];
    await client
      .list(NAMESPACE_MAPS, { namespace: tenantNamespaceOf(liqoId) }, ({ metadata }) => {
        if (metadata.labels?.[LIQO_LABEL.replicated] !== "true") found.push(metadata);
      })
      .catch(ignoring("not-found"));
    return found[0];
  };
  /** Without the Identity, Liqo could not remove the namespaces at the provider any more. */
  const untilUnmapped = async (
    pair: Pair,
    signal: AbortSignal,
    onWait: (map: ObjectMeta) => Promise<unknown> = async () => undefined,
  ): Promise<void> => {
    const beganAt = clock.monotonicMs();
    for (;;) {
      const map = await findMap(pair);
      if (map === undefined || signal.aborted || clock.monotonicMs() - beganAt >= MAPS_MS) return;
      await onWait(map);
      await wait(POLL_MS, { clock, signal });
    }
  };
  /** Liqo looks again at once when it changes; after failures it pauses for up to 17 minutes. */
  const touchMap = async ({ name, namespace = "" }: ObjectMeta): Promise<void> => {
    const body = { metadata: { annotations: { [TOUCH_ANNOTATION]: String(clock.monotonicMs()) } } };
    const change = { name: { name, namespace }, patch: { kind: "merge", body } } as const;
    await client.patch(NAMESPACE_MAPS, change, { fieldManager: MANAGER }).catch(ignoring("not-found"));
  };
  /** Once the Identity is deleted, Liqo retries with ever longer pauses, and a forced end has to wait for the next. */
  const problemIfUnreachable = async ({ clusterId, liqoId }: Pair): Promise<JobResult> => {
    if (!isUnreachable(await reads.foreignCluster(liqoId))) return undefined;
    const message = `Liqo cannot reach ${clusterId}'s API server, where it has to clean up`;
    return { reason: "ProviderUnreachable", message };
  };
  const unpeer = (pair: Pair): Job => ({
    kind: "unpeer",
    timeoutMs: TERMINATION_MS + REPAIR_MS + MAPS_MS + options.timeoutMs,
    work: (signal) =>
      inOrder(
        signal,
        () => problemIfUnreachable(pair),
        () => ends.problemIfInUse(pair),
        // It has come back while its end was forced.
        () => ends.setUnreachable(pair, false).then(() => undefined),
        () => untilUnmapped(pair, signal).then(() => undefined),
        async () => {
          if ((await ends.endIdentity(pair, TERMINATION_MS, signal)) || signal.aborted) return undefined;
          return await ends.repair(pair, (ending) => authenticate(pair, ending), signal);
        },
        () => stateEnd(pair),
      ),
  });
  /** From here on the provider may end its side: nothing of this one needs its rights any more. */
  const stateEnd = async (pair: Pair): Promise<JobResult> => {
    shares.want(pair, false);
    return undefined;
  };
  /** The provider is gone: Liqo is told so, and does not wait for it. */
  const forceUnpeer = (pair: Pair): Job => ({
    kind: "force-unpeer",
    timeoutMs: MAPS_MS + REPAIR_MS + TERMINATION_MS,
    work: (signal) =>
      inOrder(
        signal,
        () => ends.setUnreachable(pair, true).then(() => undefined),
        () => untilUnmapped(pair, signal, touchMap).then(() => undefined),
        async () => ((await ends.endIdentity(pair, REPAIR_MS, signal)) ? undefined : heldOn(pair)),
        () => ends.setUnreachable(pair, false).then(() => undefined),
        () => stateEnd(pair),
      ),
  });
  const heldOn = ({ clusterId, liqoId }: Pair): Obstacle => {
    const objects = `renews.authentication.liqo.io,secrets -n ${tenantNamespaceOf(liqoId)} -l ${LIQO_LABEL.remoteCluster}=${liqoId}`;
    const touch = `kubectl annotate ${objects} ${TOUCH_ANNOTATION}=$(date +%s) --overwrite`;
    const message = `Liqo has not let go of ${clusterId} yet, and looks again after a pause of up to 17 min; at once: ${touch}`;
    return { reason: "LiqoHoldsOn", message };
  };
  const makers: Readonly<Record<JobName, (pair: Pair) => Job>> = {
    peer: (pair) => peerAfter(ends.cleanUpOldPeering, pair),
    "peer-again": (pair) => peerAfter(ends.endPeeringFirst, pair),
    unpeer,
    "force-unpeer": forceUnpeer,
  };

  const refusalOf = ({ clusterId }: Pair): string | undefined => {
    const { state, message = "" } = exchange.heard(clusterId)?.provider ?? {};
    return state === "refused" ? `${clusterId} says: ${message}` : undefined;
  };

  return {
    create: (kind: JobName, pair: Pair): Job => makers[kind](pair),
    /** As the provider's own statement says. */
    tenantStatus: async ({ clusterId }: Pair): Promise<TenantStatus> => {
      const state = exchange.heard(clusterId)?.provider?.state;
      // A peering that a person made is none of the statements' business.
      if (state === undefined || !shares.isWanted(clusterId)) return "unknown";
      return state === "refused" || state === "none" ? "gone" : "admitted";
    },
    refusal: refusalOf,
    tenantRemedy: (pair: Pair): string => {
      const refusal = refusalOf(pair);
      if (refusal !== undefined) return `${refusal}; or release the reservation`;
      return `its agent makes it again while it has the reservation: look at its log, or release the reservation`;
    },
    /** True: the peer has said something new since the last attempt. */
    hasNewKubeconfig: async (clusterId: string): Promise<boolean> =>
      exchange.heard(clusterId)?.generation !== tried.get(clusterId),
  };
}
