import { adoption } from "../broker/adoption.ts";
import { type BrokerLink, brokerLink } from "../broker/broker-link.ts";
import { instructionFeed } from "../broker/instruction-feed.ts";
import { createResync, resyncLoop } from "../broker/resync.ts";
import { RESOURCE_REQUESTS } from "../manifests/labels.ts";
import { createProvider, type Provider, type ProviderOptions } from "../provider/provider.ts";
import { createRequester } from "../requester/requester.ts";
import { type ReservationCache, reservationCache } from "../reservations/reservation-cache.ts";
import { type AgentDeps, followDeps } from "./agent-deps.ts";
import { type AgentObjects, agentObjects } from "./agent-objects.ts";

export interface AgentCoreOptions extends ProviderOptions {
  /** Poll interval where the broker does not push; 0: no polling. */
  readonly pollIntervalMs: number;
}

/** The agent of one cluster, independent of transport and client. */
export interface AgentCore {
  /** Resolves when the cluster was observed once; the agent then runs on its own. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly cache: ReservationCache;
  readonly link: BrokerLink;
  readonly objects: AgentObjects;
  readonly provider: Provider;
  readonly isStreaming: () => boolean;
}

export function agentCore(options: AgentCoreOptions, deps: AgentDeps): AgentCore {
  const { client, communicator, clock, log } = deps;
  const link = brokerLink(communicator, clock);
  const cache = reservationCache({ clusterId: options.clusterId, now: link.now, log });
  const objects = agentObjects(options.instructionNamespace, followDeps(deps));
  const parts = { ...deps, cache, link, objects };
  /** True until an advertisement is accepted after an outage, or after a change of ledger. */
  let isAdvertisementPending = true;
  const provider = createProvider(options, { ...parts, onPublished });
  const requester = createRequester(options, parts);
  const resync = resyncLoop({
    ...deps,
    resync: createResync({ ...parts, requestUids, onOrphan: requester.releaseRequest }),
    offer: adoption(parts).offer,
  });
  const feed = instructionFeed(options, {
    ...parts,
    onMissedEvents: () => {
      resync.trigger();
      provider.republishSoon();
    },
    onActivity: link.markSeen,
    onCapacity: requester.capacityChanged,
  });

  /** A broker adopts the reservations of a cluster only after its advertisement: earlier offers are repeated. */
  function onPublished(isAccepted: boolean): void {
    const wasPending = isAdvertisementPending;
    isAdvertisementPending = !isAccepted;
    const hasUnknown = cache.live("provider").some(({ syncState }) => syncState === "unknown");
    if (isAccepted && wasPending && hasUnknown) resync.trigger();
  }

  async function requestUids(): Promise<ReadonlySet<string>> {
    const uids = new Set<string>();
    await client.list(RESOURCE_REQUESTS, {}, ({ metadata }) => {
      if (metadata.uid !== undefined && metadata.deletionTimestamp === undefined) uids.add(metadata.uid);
    });
    return uids;
  }

  /** The cluster's own instructions are listed before they are compared with the broker's state. */
  async function startObjects(): Promise<void> {
    await objects.start();
    provider.triggerPublish();
    if (options.withoutBroker !== true) {
      feed.start();
      resync.start();
    }
    requester.start();
  }

  link.onNewLedger(() => {
    log.warn(
      { ledger: link.ledgerId() },
      "the broker has another ledger: all reservations are offered for adoption",
    );
    cache.markUnconfirmed();
    isAdvertisementPending = true;
    provider.resendAll();
    resync.trigger();
  });

  return {
    start: async () => {
      // Awaited together: when the agent is stopped early, both reject.
      await Promise.all([provider.start(), startObjects()]);
    },
    stop: async () => {
      await Promise.all([feed.stop(), resync.stop()]);
      await requester.stop();
      await provider.stop();
      await objects.stop();
      link.stop();
    },
    cache,
    link,
    objects,
    provider,
    isStreaming: feed.isStreaming,
  };
}
