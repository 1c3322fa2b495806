import { inBaseUnits, type ResourceVector } from "@resource-broker/base";
import { type AccountView, UNMET_REASONS } from "@resource-broker/domain";
import { Gauge, type Registry } from "prom-client";
import type { MetricsSource } from "./metrics.ts";
import type { UnmetDemand } from "./unmet-demand.ts";

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

export interface LedgerGaugeDeps {
  readonly registry: Registry;
  readonly clusters: BoundedNames;
  readonly unmet: UnmetDemand;
  readonly source: () => MetricsSource | undefined;
}

/** Gauges that are computed from the ledger at scrape time. */
export function registerLedgerGauges({ registry, clusters, unmet, source }: LedgerGaugeDeps): void {
  const registers = [registry];
  const resources = new BoundedNames(MAX_RESOURCES);

  const amounts = (name: string, help: string, of: (account: AccountView) => ResourceVector): void => {
    new Gauge({
      name,
      help,
      labelNames: ["cluster", "resource"],
      registers,
      collect() {
        this.reset();
        for (const account of advertised(source())) {
          const cluster = clusters.labelFor(account.clusterId);
          for (const [resource, amount] of inBaseUnits(of(account))) {
            this.inc({ cluster, resource: resources.labelFor(resource) }, amount);
          }
        }
      },
    });
  };
  amounts(
    "broker_reserved",
    "Held by reservations; CPU in cores, memory and storage in bytes.",
    (account) => account.reserved,
  );
  amounts(
    "broker_available",
    "Left to lend; CPU in cores, memory and storage in bytes.",
    (account) => account.available,
  );
  amounts(
    "broker_overcommitted",
    "Lent beyond what the cluster still has; CPU in cores, memory and storage in bytes.",
    (account) => account.overcommitted,
  );

  new Gauge({
    name: "broker_advertisement_age_seconds",
    help: "Time since a cluster last advertised; `other` is the oldest of the rest.",
    labelNames: ["cluster"],
    registers,
    collect() {
      this.reset();
      const current = source();
      let oldest = 0;
      for (const { clusterId, receivedAt } of advertised(current)) {
        const cluster = clusters.labelFor(clusterId);
        const age = ((current?.engine.now() ?? receivedAt) - receivedAt) / 1000;
        if (cluster === OTHER) oldest = Math.max(oldest, age);
        this.set({ cluster }, cluster === OTHER ? oldest : age);
      }
    },
  });

  new Gauge({
    name: "broker_live_reservations",
    help: "Reservations that hold capacity right now.",
    registers,
    collect() {
      let live = 0;
      for (const { asProvider } of source()?.engine.ledger.accounts.values() ?? []) live += asProvider.size;
      this.set(live);
    },
  });

  new Gauge({
    name: "broker_unmet_demand",
    help: "Requests of the last 5 minutes that nobody could serve, by the reason most clusters had.",
    labelNames: ["reason"],
    registers,
    collect() {
      const now = source()?.engine.now() ?? 0;
      for (const reason of UNMET_REASONS) this.set({ reason }, unmet.count(reason, now));
    },
  });
}

function* advertised(source: MetricsSource | undefined): Generator<AccountView> {
  for (const account of source?.engine.ledger.accounts.values() ?? []) {
    if (account.advertisement !== undefined) yield account;
  }
}
