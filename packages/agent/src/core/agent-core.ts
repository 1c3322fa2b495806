import { adoption } from "../broker/adoption.ts";
import { type BrokerLink, brokerLink } from "../broker/broker-link.ts";
import { census } from "../broker/census.ts";
import { instructionFeed } from "../broker/instruction-feed.ts";
import { RESOURCE_REQUESTS } from "../requests/status-board.ts";
import { type ReservationBook, reservationBook } from "../reservations/reservation-book.ts";
import { type AgentDeps, followDeps } from "./agent-deps.ts";
import { type AgentObjects, agentObjects } from "./agent-objects.ts";
import { borrowing } from "./borrowing.ts";
import { censusRounds } from "./census-rounds.ts";
import { type Lending, type LendingOptions, lending } from "./lending.ts";

export interface AgentCoreOptions extends LendingOptions {
  /** Poll interval where the broker does not push; 0: no polling. */
  readonly pollIntervalMs: number;
}

/** The agent of one cluster, independent of transport and client. */
export interface AgentCore {
  /** Resolves when the cluster was observed once; the agent then runs on its own. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly book: ReservationBook;
  readonly link: BrokerLink;
  readonly objects: AgentObjects;
  readonly lending: Lending;
  readonly isStreaming: () => boolean;
}

export function agentCore(options: AgentCoreOptions, deps: AgentDeps): AgentCore {
  const { client, communicator, clock, log } = deps;
  const link = brokerLink(communicator, clock);
  const book = reservationBook({ clusterId: options.clusterId, now: link.now, log });
  const objects = agentObjects(options.instructionNamespace, followDeps(deps));
  const parts = { ...deps, book, link, objects };
  /** True until an advertisement is accepted after an outage, or after a change of ledger. */
  let isUnheard = true;
  const lender = lending(options, { ...parts, onPublished });
  const borrower = borrowing(options, parts);
  const rounds = censusRounds({
    ...deps,
    census: census({ ...parts, requestUids, onOrphan: borrower.releaseRequest }),
    offer: adoption(parts).offer,
  });
  const feed = instructionFeed(options, {
    ...parts,
    onGap: () => {
      rounds.hurry();
      lender.repeatSoon();
    },
    onHeard: link.heard,
    onCapacity: borrower.capacityChanged,
  });

  /** A broker adopts the reservations of a cluster only after its advertisement: earlier offers are repeated. */
  function onPublished(isAccepted: boolean): void {
    const wasUnheard = isUnheard;
    isUnheard = !isAccepted;
    const isForgotten = book.live("provider").some(({ standing }) => standing === "unknown");
    if (isAccepted && wasUnheard && isForgotten) rounds.hurry();
  }

  async function requestUids(): Promise<ReadonlySet<string>> {
    const uids = new Set<string>();
    await client.list(RESOURCE_REQUESTS, {}, ({ metadata }) => {
      if (metadata.uid !== undefined && metadata.deletionTimestamp === undefined) uids.add(metadata.uid);
    });
    return uids;
  }

  /** The cluster's own instructions are listed before they are compared with the broker's state. */
  async function listen(): Promise<void> {
    await objects.start();
    lender.poke();
    if (options.withoutBroker !== true) {
      feed.start();
      rounds.start();
    }
    borrower.start();
  }

  link.onNewLedger(() => {
    log.warn(
      { ledger: link.ledgerId() },
      "the broker has another ledger: all reservations are offered for adoption",
    );
    book.doubt();
    isUnheard = true;
    lender.tellAgain();
    rounds.hurry();
  });

  return {
    start: async () => {
      // Awaited together: when the agent is stopped early, both reject.
      await Promise.all([lender.start(), listen()]);
    },
    stop: async () => {
      await Promise.all([feed.stop(), rounds.stop()]);
      await borrower.stop();
      await lender.stop();
      await objects.stop();
      link.stop();
    },
    book,
    link,
    objects,
    lending: lender,
    isStreaming: feed.isStreaming,
  };
}
