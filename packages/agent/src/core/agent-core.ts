import { brokerLink } from "../broker/broker-link.ts";
import { instructionFeed } from "../broker/instruction-feed.ts";
import { createResync } from "../broker/resync.ts";
import { createProvider, type ProviderOptions } from "../provider/provider.ts";
import { createRequester } from "../requester/requester.ts";
import { queueFollower } from "../requester/queue-follower.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { waitingCache } from "../reservations/waiting-cache.ts";
import { type AgentDeps, type AgentParts, followDeps } from "./agent-deps.ts";
import { agentObjects } from "./agent-objects.ts";

export interface AgentCoreOptions extends ProviderOptions {
  /** Poll interval where the broker does not push; 0: no polling. */
  readonly pollIntervalMs: number;
}

export type AgentCore = ReturnType<typeof agentCore>;

/** The agent of one cluster, independent of transport and client. */
export function agentCore(options: AgentCoreOptions, deps: AgentDeps) {
  const { communicator, clock, log, dataPlane } = deps;
  const link = brokerLink(communicator, clock);
  const cache = reservationCache({ clusterId: options.clusterId, now: link.now, log });
  const objects = agentObjects(options.instructionNamespace, followDeps(deps));
  const waiting = waitingCache({ clusterId: options.clusterId, reservations: cache });
  const parts: AgentParts = { ...deps, cache, waiting, link, objects };
  /** True until an advertisement is accepted after an outage, or after a change of ledger. */
  let isAdvertisementPending = true;
  const provider = createProvider(options, { ...parts, onPublished });
  const queue = queueFollower(parts);
  const requester = createRequester(options, { ...parts, onQueued: queue.wake });
  const resync = createResync({ ...parts, onOrphan: requester.releaseRequest });
  const feed = instructionFeed(options, {
    ...parts,
    onMissedEvents: () => {
      resync.wake();
      queue.reconnected();
      provider.republishSoon();
      dataPlane.onConnected?.();
    },
    onActivity: link.markSeen,
    onCapacity: requester.capacityChanged,
    onWaiting: (changed) => {
      waiting.update(changed);
      queue.wake();
    },
    onStatement: (from, statement) => dataPlane.onStatement?.(from, statement),
  });

  /** A broker adopts the reservations of a cluster only after its advertisement: earlier offers are repeated. */
  function onPublished(isAccepted: boolean): void {
    const wasPending = isAdvertisementPending;
    isAdvertisementPending = !isAccepted;
    const hasUnknown = cache.live("provider").some(({ syncState }) => syncState === "unknown");
    if (isAccepted && wasPending && hasUnknown) resync.wake();
  }

  /** The cluster's own instructions are listed before they are compared with the broker's state. */
  async function startObjects(): Promise<void> {
    await objects.start();
    provider.triggerPublish();
    if (options.withoutBroker !== true) {
      feed.start();
      resync.start();
      queue.start();
    }
    requester.start();
  }

  link.onNewLedger(() => {
    log.warn(
      { ledger: link.ledgerId() },
      "the broker has another ledger: all reservations are offered for adoption",
    );
    cache.markUnconfirmed();
    queue.ledgerChanged();
    isAdvertisementPending = true;
    provider.resendAll();
    resync.wake();
  });

  return {
    /** Resolves when the cluster was observed once; the agent then runs on its own. */
    start: async (): Promise<void> => {
      // Awaited together: when the agent is stopped early, both reject.
      await Promise.all([provider.start(), startObjects()]);
    },
    stop: async (): Promise<void> => {
      await Promise.all([feed.stop(), resync.stop(), queue.stop()]);
      await requester.stop();
      await provider.stop();
      await objects.stop();
      link.stop();
    },
    cache,
    waiting,
    link,
    objects,
    provider,
    isStreaming: feed.isStreaming,
  };
}
