import { toFault } from "@resource-broker/base";
import { type KubeClient, type ReflectorDeps } from "@resource-broker/kube";
import type { DataPlane, ProviderContext } from "../../data-plane/data-plane.ts";
import { ignoring } from "../../faults.ts";
import type { AgentIdentity } from "../../identity/agent-identity.ts";
import type { BrokerCommunicator } from "../../transport/broker-communicator.ts";
import { IDENTITIES, TENANTS, tenantNamespaceOf } from "../objects.ts";
import { liqoProvider } from "../provider/liqo-provider.ts";
import { liqoRequester } from "../requester/liqo-requester.ts";
import { peeringMarkers, warmClaimOf } from "../requester/peering-marker.ts";
import type { Obstacle } from "../requester/steps.ts";
import { statementExchange } from "./exchange.ts";
import { type IdentitiesOptions, identities } from "./identities.ts";
import { PEER_LABEL, peerPins, pinName } from "./peer-pins.ts";
import { relayJobs, type RelayJobsOptions } from "./relay-jobs.ts";
import { type RelayProvider, relayProvider } from "./relay-provider.ts";
import { requesterShares } from "./requester-shares.ts";
import { warmPairs } from "./warm-pairs.ts";

export interface RelayOptions extends RelayJobsOptions, IdentitiesOptions {
  readonly clusterId: string;
  readonly gpuResource: string;
  readonly isEnforcing: boolean;
  /** Where the agent keeps its pins. */
  readonly namespace: string;
  readonly fingerprints: ReadonlyMap<string, string>;
  readonly warmPeers: ReadonlySet<string>;
  readonly warmForMs: number;
}

export interface RelayDeps extends ReflectorDeps {
  readonly client: KubeClient;
  readonly identity: AgentIdentity;
  readonly statements: Pick<BrokerCommunicator, "putStatement">;
}

/** Liqo without liqoctl and without kubeconfigs: each agent writes into its own cluster, and states to the other what it has. */
export function relayDataPlane(options: RelayOptions, deps: RelayDeps): Omit<DataPlane, "accounting"> {
  const { client, log } = deps;
  const markers = peeringMarkers(client, options.liqoNamespace);
  const pins = peerPins(client, options.namespace);
  const access = identities(options, client);
  const wanted = new Set<string>();
  let context: ProviderContext | undefined;
  let provider: RelayProvider | undefined;
  let ownLiqoId = (): string | undefined => undefined;

  const isReserved = (clusterId: string): boolean =>
    (["requester", "provider"] as const).some((role) =>
      context?.cache
        .live(role)
        .some(({ reservation }) => [reservation.requester, reservation.provider].includes(clusterId)),
    );
  const exchange = statementExchange(options, {
    ...deps,
    communicator: deps.statements,
    pins,
    ownLiqoId: () => ownLiqoId(),
    now: () => context?.link.view().now,
    isExpected: (clusterId) =>
      isReserved(clusterId) ||
      wanted.has(clusterId) ||
      options.warmPeers.has(clusterId) ||
      isTenant(clusterId),
    hasPeering: async ({ clusterId, liqoId }) => {
      let count = 0;
      const add = (): void => void count++;
      const tenantsOf = { labelSelector: `${PEER_LABEL}=${clusterId}` };
      const own = (await markers.all()).filter((marker) => marker.clusterId === clusterId);
      const namespaces = new Set([liqoId, ...own.map((marker) => marker.liqoId)].map(tenantNamespaceOf));
      const ignored = ignoring("not-found");
      await client
        .list(TENANTS, tenantsOf, ({ metadata }) => {
          if (metadata.labels?.[PEER_LABEL] === clusterId) add();
        })
        .catch(ignored);
      for (const namespace of namespaces)
        for (const kind of [TENANTS, IDENTITIES] as const)
          await client.list<object>(kind, { namespace }, add).catch(ignored);
      return count > 0;
    },
    onHeard: (clusterId) => {
      shares.lookAgain(clusterId);
      provider?.lookAgain(clusterId);
    },
    onObstacle: (clusterId, obstacle) => report(clusterId, obstacle),
  });
  const isTenant = (clusterId: string): boolean => provider?.isKnown(clusterId) === true;
  const warn = (clusterId: string, reason: "PeerRefused" | "PeerAddressChanged", message: string): void => {
    const metadata = { name: pinName(clusterId), namespace: options.namespace };
    const regarding = { apiVersion: "v1", kind: "ConfigMap", metadata };
    context?.recordEvent({ regarding, type: "Warning", reason, message });
  };
  const report = (clusterId: string, { reason, message }: Obstacle): void =>
    warn(clusterId, "PeerRefused", `${reason}: ${message}`);
  const differences = new Map<string, string | undefined>();
  const shares = requesterShares(options.liqoNamespace, {
    ...deps,
    exchange,
    pins,
    identities: access,
    ownLiqoId: () => ownLiqoId(),
    onDifference: (clusterId, message) => {
      const isNew = message !== undefined && differences.get(clusterId) !== message;
      differences.set(clusterId, message);
      if (!isNew) return;
      log.warn({ peer: clusterId }, message);
      warn(clusterId, "PeerAddressChanged", message);
    },
  });
  const requester = liqoRequester(options, {
    client,
    clock: deps.clock,
    log,
    what: "relay peering",
    warmClaim: ({ clusterId, liqoId }) =>
      options.warmPeers.has(clusterId) ? warmClaimOf(liqoId) : undefined,
    createJobs: (parts) =>
      relayJobs(options, {
        ...deps,
        ...parts,
        exchange,
        identities: access,
        shares: {
          ...shares,
          want: (peer, wants) => {
            if (wants) wanted.add(peer.clusterId);
            shares.want(peer, wants);
          },
        },
      }),
  });
  const warm = warmPairs(options, { ...deps, markers, exchange, release: requester.release });

  /** A restarted agent states again what it needs. */
  const resume = async (): Promise<void> => {
    for (const marker of await markers.all()) {
      if (!marker.isBegun) continue;
      wanted.add(marker.clusterId);
      shares.want(marker, true);
    }
    await provider?.start();
  };

  const createProvider = (given: ProviderContext) => {
    context = given;
    const tenants = relayProvider(options, { ...given, ...deps, exchange, markers, pins });
    provider = tenants;
    let hasStarted = false;
    const begin = (): void => {
      if (hasStarted || ownLiqoId() === undefined) return;
      hasStarted = true;
      resume().catch((error: unknown) => {
        hasStarted = false;
        log.warn({ error: toFault(error).message }, "relay peering cannot start yet");
        deps.clock.after(RESUME_RETRY_MS, begin);
      });
      warm.start();
    };
    const endListening = given.cache.onChange((role, id) => {
      const reservation = given.cache.get(role, id)?.reservation;
      if (reservation !== undefined)
        exchange.lookAgain(role === "provider" ? reservation.requester : reservation.provider);
    });
    const liqo = liqoProvider(
      { namespace: options.liqoNamespace, isEnforcing: options.isEnforcing },
      {
        ...given,
        ...deps,
        onIdentity: () => {
          begin();
          given.onIdentity();
        },
        checkReplica: tenants.checkReplica,
      },
    );
    ownLiqoId = () => liqo.identity()?.clusterId;
    return {
      ...liqo,
      stop: async () => {
        endListening();
        await tenants.stop();
        await liqo.stop();
      },
    };
  };

  return {
    requester,
    createProvider,
    onStatement: exchange.receive,
    onConnected: exchange.resend,
    stop: async () => {
      await warm.stop();
      await requester.stop();
      await Promise.all([shares.stop(), exchange.stop()]);
    },
  };
}

const RESUME_RETRY_MS = 5000;
