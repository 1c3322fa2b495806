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
  /** How often to ask for instructions where the broker does not push; 0: never. */
  readonly pollIntervalMs: number;
}

/** An agent at work for one cluster, whatever its transport and its client are. */
export interface AgentCore {
  /** Resolves when the cluster was seen once; it goes on by itself from there. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly book: ReservationBook;
  readonly link: BrokerLink;
  readonly objects: AgentObjects;
  readonly lending: Lending;
  readonly isStreaming: () => boolean;
}

export function agentCore(options: AgentCoreOptions, deps: AgentDeps): AgentCore {
  const { client, communicator, machine, log } = deps;
  const link = brokerLink(communicator, machine);
  const book = reservationBook({ clusterId: options.clusterId, now: link.now, log });
  const objects = agentObjects(options.instructionNamespace, followDeps(deps));
  const parts = { ...deps, book, link, objects };
  /** No advertisement was accepted since the broker was away, or since it has another ledger. */
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

  /** A broker adopts what a cluster holds only once that has advertised: what was offered before is offered again. */
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

  /** What the cluster's own instructions say must be known before the broker's word is compared with it. */
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
    log.warn({ ledger: link.ledgerId() }, "the broker has another ledger: everything held is offered to it");
    book.doubt();
    isUnheard = true;
    lender.tellAgain();
    rounds.hurry();
  });

  return {
    start: async () => {
      // Both are waited for at once: stopped before either was listed, both reject.
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
