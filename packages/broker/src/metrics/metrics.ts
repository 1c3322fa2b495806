import type { Decision, FilterName } from "@resource-broker/domain";
import type { CertificateSet } from "@resource-broker/runtime";
import type { Engine } from "../engine/engine.ts";
import type { EngineObserver } from "../engine/engine-observer.ts";
import type { AuditObserver } from "../store/audit-watch.ts";

/** Why demand stayed unmet: the filter that passed over most clusters, the requester's quota, or nobody to ask. */
export type UnmetReason = FilterName | "quota" | "no-clusters";

/** What the HTTP interface counts. */
export interface HttpMetrics {
  readonly answered: (route: string, status: number) => void;
  readonly demandUnmet: (reason: UnmetReason) => void;
}

/** What figures are read from when somebody asks for them, and never on the way of a request. */
export interface Watched {
  readonly engine: Pick<Engine, "ledger" | "now" | "onCommit" | "policy" | "health">;
  /** Of several replicas this one answers for the ledger. */
  readonly isLeading: () => boolean;
  readonly openStreams: () => number;
  readonly openConnections: () => number;
}

/** What the broker tells of its own work. All of it is cheap: it is called on the way of every request. */
export interface BrokerMetrics
  extends HttpMetrics,
    AuditObserver,
    Pick<EngineObserver, "decided" | "committed" | "commitFailed" | "granted"> {
  /** A refusal that no commit tells of. */
  readonly refusalNotRecorded: (decision: Decision) => void;
  /** Another writer was faster, and the decision was taken again. */
  readonly lockConflict: () => void;
  /** The certificates that are in force from now on. */
  readonly certificatesInForce: (set: CertificateSet) => void;
  /** Counts what the engine commits from now on; the returned function ends it. */
  readonly watch: (watched: Watched) => () => void;
  /** All figures in the text format of Prometheus. */
  readonly scrape: () => Promise<string>;
  readonly contentType: string;
}
