import { Fault } from "@resource-broker/base";
import { LIMIT, type PeerStatementDTO, type Statement } from "@resource-broker/contract";
import { type ClusterId, type Instant, liqoHolderOf } from "@resource-broker/domain";
import type { Committed, Engine } from "../../../engine/engine.ts";
import type { HttpLimits } from "../ports.ts";
import type { ReservationIndex } from "../reservation-index.ts";

/** Two clusters may go on talking this long after their last reservation ended. */
const PARTED_MS = 3_600_000;
/** Receivers ignore statements that would live longer: they only take room here. */
const MAX_KEPT_MS = 30 * 60_000;

/** A statement whose sender, receiver and signature are checked. */
export interface SignedStatement {
  readonly content: Pick<
    Statement,
    "from" | "to" | "fromKey" | "fromLiqoID" | "generation" | "expires" | "warm"
  >;
  /** As the receiver gets it. */
  readonly jws: string;
}

/** What is to be sent to a cluster now. */
export interface Delivery {
  readonly to: ClusterId;
  readonly statement: PeerStatementDTO;
}

export interface StatementsDeps {
  readonly engine: Pick<Engine, "ledger" | "now">;
  readonly index: Pick<ReservationIndex, "idsOf">;
  readonly limits: Pick<HttpLimits, "maxStatementBytes">;
}

/** The newest statement of each ordered pair of clusters. In memory only: after a restart agents state everything again. */
export class Statements {
  readonly #deps: StatementsDeps;
  readonly #bySender = new Map<ClusterId, Map<ClusterId, SignedStatement>>();
  #count = 0;
  #bytes = 0;

  constructor(deps: StatementsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#count;
  }

  /** Keeps a statement in place of the one before it. Returns what is to be delivered; throws a Fault if it is not kept. */
  put(statement: SignedStatement): Delivery[] {
    const { content, jws } = statement;
    const { from, to, generation } = content;
    const before = this.#find(from, to);
    const known = before?.content.generation ?? 0;
    if (before?.jws === jws) return [];
    if (known >= generation)
      throw new Fault(
        "ledger-conflict",
        `generation ${known} of the statement to ${to} is known: state a larger one`,
      );
    const isPartner = this.#partnersOf(from).has(to);
    this.#require(content, isPartner);
    this.#makeRoom(statement);
    this.#set(statement);
    // The other one may have waited for this side to name the pair too.
    const back = content.warm === true ? this.#find(to, from) : undefined;
    return [statement, ...(back === undefined ? [] : [back])]
      .filter((each) => this.#isDeliverable(each, isPartner))
      .map(deliveryOf);
  }

  #require(content: SignedStatement["content"], isPartner: boolean): void {
    const { from, to, fromLiqoID } = content;
    const holder = this.#otherHolder(content);
    if (holder !== undefined)
      throw new Fault(
        "forbidden",
        `${from} states the Liqo ID ${fromLiqoID}, which belongs to ${holder}: install Liqo with another --cluster-id`,
      );
    if (!isPartner && !this.#mayBeWarm(content))
      throw new Fault(
        "forbidden",
        `${from} and ${to} share no reservation, nor have they within the last hour; a warm pair must be known and named by both policies`,
      );
  }

  /** The newest statement of each cluster to this one. */
  listFor(to: ClusterId): PeerStatementDTO[] {
    const partners = this.#partnersOf(to);
    const found: PeerStatementDTO[] = [];
    for (const from of this.#bySender.keys()) {
      const stored = this.#find(from, to);
      if (stored !== undefined && this.#isDeliverable(stored, partners.has(from)))
        found.push(deliveryOf(stored).statement);
    }
    return found;
  }

  /** What a commit lets through, and what it ends. */
  update({ events }: Committed): Delivery[] {
    const deliveries: Delivery[] = [];
    for (const event of events) {
      if (event.kind === "member-evicted") this.#forget(event.member.clusterId);
      if (event.kind !== "granted" && event.kind !== "adopted") continue;
      const { requester, provider } = event.reservation;
      for (const stored of [this.#find(requester, provider), this.#find(provider, requester)])
        if (stored !== undefined && this.#isDeliverable(stored, true)) deliveries.push(deliveryOf(stored));
    }
    return deliveries;
  }

  #isDeliverable({ content }: SignedStatement, isPartner: boolean): boolean {
    const { from, to, fromKey, warm } = content;
    if (this.#deps.engine.ledger.members.get(from)?.key !== fromKey) return false;
    if (this.#otherHolder(content) !== undefined) return false;
    return isPartner || (warm === true && this.#find(to, from)?.content.warm === true);
  }

  /** The cluster that the stated Liqo ID is bound to, if it is not the sender. */
  #otherHolder({ from, fromLiqoID }: SignedStatement["content"]): ClusterId | undefined {
    const holder = liqoHolderOf(this.#deps.engine.ledger, fromLiqoID);
    return holder === from ? undefined : holder;
  }

  /** Undefined: there is none, or it has expired. */
  #find(from: ClusterId, to: ClusterId): SignedStatement | undefined {
    const stored = this.#bySender.get(from)?.get(to);
    if (stored === undefined || stored.content.expires > this.#deps.engine.now()) return stored;
    this.#remove(stored);
    return undefined;
  }

  /** Clusters that share a reservation with this one, or did within the last hour. */
  #partnersOf(clusterId: ClusterId): Set<ClusterId> {
    const { engine, index } = this.#deps;
    const since: Instant = engine.now() - PARTED_MS;
    const partners = new Set<ClusterId>();
    for (const id of index.idsOf(clusterId)) {
      const reservation = engine.ledger.reservations.get(id);
      if (reservation === undefined || (reservation.endedAt ?? since) < since) continue;
      const { requester, provider } = reservation;
      partners.add(requester === clusterId ? provider : requester);
    }
    return partners;
  }

  /** Statements to clusters that nobody knows would only take room. */
  #mayBeWarm({ to, warm }: SignedStatement["content"]): boolean {
    const { accounts, members } = this.#deps.engine.ledger;
    return warm === true && (accounts.has(to) || members.has(to));
  }

  #makeRoom(statement: SignedStatement): void {
    this.#makeRoomOfSender(statement.content);
    const { maxStatementBytes } = this.#deps.limits;
    const { from, to } = statement.content;
    // The one that it replaces goes: a full broker still takes news of what it keeps.
    const addedBytes = statement.jws.length - (this.#bySender.get(from)?.get(to)?.jws.length ?? 0);
    if (this.#bytes + addedBytes <= maxStatementBytes) return;
    const now = this.#deps.engine.now();
    for (const stored of this.#bySender.values())
      this.#drop(stored.values(), ({ content }) => content.expires <= now);
    if (this.#bytes + addedBytes > maxStatementBytes)
      throw new Fault("overloaded", "the broker keeps no more statements now; retry");
  }

  #makeRoomOfSender({ from, to }: SignedStatement["content"]): void {
    const own = this.#bySender.get(from);
    if (own === undefined || own.has(to) || own.size < LIMIT.statementsPerCluster) return;
    const partners = this.#partnersOf(from);
    this.#drop(own.values(), (stored) => !this.#isDeliverable(stored, partners.has(stored.content.to)));
    if (own.size < LIMIT.statementsPerCluster) return;
    throw new Fault(
      "quota-exceeded",
      `${from} has statements for ${LIMIT.statementsPerCluster} clusters already, the most that are kept`,
    );
  }

  #drop(stored: Iterable<SignedStatement>, isDropped: (statement: SignedStatement) => boolean): void {
    for (const each of stored) if (isDropped(each)) this.#remove(each);
  }

  /** Nothing of an evicted cluster is passed on, and nothing to it. */
  #forget(clusterId: ClusterId): void {
    this.#drop(this.#bySender.get(clusterId)?.values() ?? [], () => true);
    for (const stored of this.#bySender.values())
      this.#drop(stored.values(), ({ content }) => content.to === clusterId);
  }

  #set({ content, jws }: SignedStatement): void {
    const { from, to } = content;
    const expires = Math.min(content.expires, this.#deps.engine.now() + MAX_KEPT_MS);
    const before = this.#bySender.get(from)?.get(to);
    if (before !== undefined) this.#remove(before);
    const own = this.#bySender.get(from) ?? new Map<ClusterId, SignedStatement>();
    this.#bySender.set(from, own.set(to, { content: { ...content, expires }, jws }));
    this.#count++;
    this.#bytes += jws.length;
  }

  #remove({ content: { from, to }, jws }: SignedStatement): void {
    const own = this.#bySender.get(from);
    if (own?.delete(to) !== true) return;
    if (own.size === 0) this.#bySender.delete(from);
    this.#count--;
    this.#bytes -= jws.length;
  }
}

function deliveryOf({ content: { from, to }, jws }: SignedStatement): Delivery {
  return { to, statement: { from, statement: jws } };
}
