import { inBaseUnits, type ResourceVector } from "@resource-broker/base";
import {
  type AccountView,
  type Decision,
  type Instant,
  type LedgerEvent,
  type Reservation,
  UNMET_REASONS,
  type UnmetReason,
} from "@resource-broker/domain";
import type { MetricsRegistry } from "@resource-broker/runtime";
import type { Committed, Engine } from "../engine/engine.ts";
import { type AskedRequest, requestIdentity } from "../engine/request-identity.ts";
import type { MetricsSource } from "./metrics.ts";

const WINDOW_MS = 5 * 60_000;
/** Enough for a large fleet; those refused longest ago are forgotten first. */
const MAX_UNMET = 10_000;

/** Requests that were refused in the last minutes and not granted since: each once, by the reason it had last. */
export class UnmetDemand {
  /** The last refused at the end. */
  readonly #requests = new Map<string, { readonly reason: UnmetReason; readonly at: Instant }>();

  refused(asked: AskedRequest, reason: UnmetReason, at: Instant): void {
    const id = requestIdentity(asked);
    this.#requests.delete(id);
    this.#requests.set(id, { reason, at });
    this.#forget(at);
  }

  /** It was granted, or waits now. */
  met(asked: AskedRequest): void {
    if (this.#requests.size > 0) this.#requests.delete(requestIdentity(asked));
  }

  count(reason: UnmetReason, now: Instant): number {
    this.#forget(now);
    let total = 0;
    for (const request of this.#requests.values()) if (request.reason === reason) total++;
    return total;
  }

  #forget(now: Instant): void {
    for (const [id, { at }] of this.#requests) {
      if (this.#requests.size <= MAX_UNMET && now - at < WINDOW_MS) return;
      this.#requests.delete(id);
    }
  }
}

/** Label for all names beyond the limit. */
const OTHER = "other";

/** Gives the first names their own label and all others `other`: every label value is a series to store. */
export class BoundedNames {
  readonly #max: number;
  readonly #names = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  labelFor(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#max) return OTHER;
    this.#names.add(name);
    return name;
  }
}

/** Names of extended resources come from clusters: they are bounded as well. */
const MAX_RESOURCES = 64;

interface LedgerGaugeDeps {
  readonly registry: MetricsRegistry;
  readonly clusters: BoundedNames;
  readonly unmet: UnmetDemand;
  readonly source: () => MetricsSource | undefined;
}

/** Gauges that are computed from the ledger at scrape time. */
export function registerLedgerGauges({ registry, clusters, unmet, source }: LedgerGaugeDeps): void {
  const resources = new BoundedNames(MAX_RESOURCES);

  const amounts = (name: string, help: string, of: (account: AccountView) => ResourceVector): void =>
    registry.collector(
      { name, help: `${help}; CPU in cores, memory and storage in bytes.`, type: "gauge" },
      () => {
        // All names beyond the limit are one series: their amounts are added up.
        const sums = new Map<string, { readonly labels: Record<string, string>; value: number }>();
        for (const account of advertised(source())) {
          const cluster = clusters.labelFor(account.clusterId);
          for (const [name, amount] of inBaseUnits(of(account))) {
            const resource = resources.labelFor(name);
            const key = `${cluster}/${resource}`;
            const sum = sums.get(key);
            if (sum === undefined) sums.set(key, { labels: { cluster, resource }, value: amount });
            else sum.value += amount;
          }
        }
        return sums.values();
      },
    );
  amounts("broker_reserved", "Held by reservations", (account) => account.reserved);
  amounts("broker_available", "Left to lend", (account) => account.available);
  amounts(
    "broker_overcommitted",
    "Lent beyond what the cluster still has",
    (account) => account.overcommitted,
  );

  registry.collector(
    {
      name: "broker_advertisement_age_seconds",
      help: "Time since a cluster last advertised; `other` is the oldest of the rest.",
      type: "gauge",
    },
    () => {
      const current = source();
      const ages = new Map<string, number>();
      for (const { clusterId, receivedAt } of advertised(current)) {
        const cluster = clusters.labelFor(clusterId);
        const age = ((current?.engine.now() ?? receivedAt) - receivedAt) / 1000;
        ages.set(cluster, cluster === OTHER ? Math.max(ages.get(OTHER) ?? 0, age) : age);
      }
      return Array.from(ages, ([cluster, value]) => ({ labels: { cluster }, value }));
    },
  );

  registry.gauge(
    { name: "broker_live_reservations", help: "Reservations that hold capacity right now." },
    () => {
      let live = 0;
      for (const { asProvider } of source()?.engine.ledger.accounts.values() ?? []) live += asProvider.size;
      return live;
    },
  );

  registry.collector(
    {
      name: "broker_unmet_demand",
      help: "Requests of the last 5 minutes that nobody could serve, each counted once, by what stopped the cluster that came furthest.",
      type: "gauge",
    },
    () => {
      const now = source()?.engine.now() ?? 0;
      return UNMET_REASONS.map((reason) => ({ labels: { reason }, value: unmet.count(reason, now) }));
    },
  );
}

function* advertised(source: MetricsSource | undefined): Generator<AccountView> {
  for (const account of source?.engine.ledger.accounts.values() ?? []) {
    if (account.advertisement !== undefined) yield account;
  }
}

const HOUR_MS = 3_600_000;

export interface CommitCounterDeps {
  readonly registry: MetricsRegistry;
  readonly clusters: BoundedNames;
  readonly unmet: UnmetDemand;
}

/** Counts what the ledger went through, commit by commit. */
export function commitCounters({ registry, clusters, unmet }: CommitCounterDeps) {
  const reservations = registry.counter({
    name: "broker_reservations_total",
    help: "Reservations that came into a phase, by the cluster that asked.",
    isLabelled: true,
  });
  const ends = registry.counter({
    name: "broker_reservation_ends_total",
    help: "Reservations that ended, by reason.",
    isLabelled: true,
  });
  const savings = registry.counter({
    name: "broker_cost_savings_total",
    help: "Saved against the mean price of the clusters that fitted; open-ended reservations count one hour.",
    isLabelled: true,
  });
  const preemptions = preemptionCounter(registry);
  const countPhase = ({ phase, requester }: Reservation): void =>
    reservations.inc({ phase, requester: clusters.labelFor(requester) });

  const count = (event: LedgerEvent, ledger: Engine["ledger"]): void => {
    switch (event.kind) {
      case "queued":
        return unmet.met(event.waiting);
      case "granted":
        unmet.met({ ...event.reservation, request: event.decision.request });
        countPhase(event.reservation);
        savings.inc({ currency: event.decision.currency }, savingsOf(event.reservation, event.decision));
        return;
      case "adopted":
        return countPhase(event.reservation);
      case "activated":
      case "ended": {
        const reservation = ledger.reservations.get(event.id);
        if (reservation !== undefined) countPhase(reservation);
        if (event.kind === "ended") ends.inc({ reason: event.reason });
        return;
      }
      default:
      // Changes no phase.
    }
  };

  return (commit: Committed, ledger: Engine["ledger"]): void => {
    for (const event of commit.events) count(event, ledger);
    preemptions(commit, ledger);
  };
}

const PREEMPTION_CAUSES = ["request", "drain"] as const;
const PREEMPTION_OUTCOMES = ["noticed", "preempted", "reprieved"] as const;

/** Notices, and what became of them. */
function preemptionCounter(registry: MetricsRegistry) {
  const preemptions = registry.counter({
    name: "broker_preemptions_total",
    help: "Reservations that got notice (noticed), and then ended (preempted) or were spared (reprieved), by cause: for a waiting request, or because the provider is drained.",
    isLabelled: true,
  });
  for (const cause of PREEMPTION_CAUSES)
    for (const outcome of PREEMPTION_OUTCOMES) preemptions.inc({ cause, outcome }, 0);
  const add = (isDrain: boolean, outcome: (typeof PREEMPTION_OUTCOMES)[number]): void =>
    preemptions.inc({ cause: isDrain ? "drain" : "request", outcome });

  return ({ events }: Committed, ledger: Engine["ledger"]): void => {
    // The notices of a drain are withdrawn with its cordon, in the same commit.
    const uncordoned = new Set(events.map((event) => (event.kind === "uncordoned" ? event.clusterId : "")));
    for (const event of events) {
      if (event.kind === "preempting") add(event.by === undefined, "noticed");
      else if (event.kind === "reprieved")
        add(uncordoned.has(ledger.reservations.get(event.id)?.provider ?? ""), "reprieved");
      else if (event.kind === "ended" && event.reason === "Preempted")
        add(ledger.reservations.get(event.id)?.preemption?.by === undefined, "preempted");
    }
  };
}

/**
 * What the choice saved against the mean price of all clusters that fitted: for the time it was asked for, or for one
 * hour when it is open-ended. Never less than nothing: a counter only grows.
 */
function savingsOf(
  { cost, expiresAt, reservedAt }: Reservation,
  { market }: Pick<Decision, "market">,
): number {
  if (cost === undefined || market.meanPrice === undefined) return 0;
  const hours = expiresAt === undefined ? 1 : (expiresAt - reservedAt) / HOUR_MS;
  return Math.max(0, (market.meanPrice - cost.perHour) * hours);
}
