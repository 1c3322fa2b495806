import type { FilterName } from "@resource-broker/domain";
import type { Engine } from "../engine/engine.ts";
import type { EngineObserver } from "../engine/engine-observer.ts";

/** Why demand stayed unmet: the filter that passed over most clusters, the requester's quota, or nobody to ask. */
export type UnmetReason = FilterName | "quota" | "no-clusters";

/** What the HTTP interface counts. */
export interface HttpMetrics {
  readonly answered: (route: string, status: number) => void;
  readonly demandUnmet: (reason: UnmetReason) => void;
}

/** What figures are read from when somebody asks for them, and never on the way of a request. */
export interface Watched {
  readonly engine: Pick<Engine, "ledger" | "now" | "onCommit">;
  readonly openStreams: () => number;
  readonly openConnections: () => number;
}

/** What the broker tells of its own work. All of it is cheap: it is called on the way of every request. */
export interface BrokerMetrics
  extends HttpMetrics,
    Pick<EngineObserver, "decided" | "committed" | "commitFailed"> {
  /** Another writer was faster, and the decision was taken again. */
  readonly lockConflict: () => void;
  /** Counts what the engine commits from now on; the returned function ends it. */
  readonly watch: (watched: Watched) => () => void;
  /** All figures in the text format of Prometheus. */
  readonly scrape: () => Promise<string>;
  readonly contentType: string;
}
