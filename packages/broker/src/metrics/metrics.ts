import type { UnmetReason } from "@resource-broker/domain";
import type { CertificateSet } from "@resource-broker/runtime";
import type { Engine } from "../engine/engine.ts";
import type { EngineObserver } from "../engine/engine-observer.ts";
import type { AskedRequest } from "../engine/request-identity.ts";
import type { AuditObserver } from "../store/audit-watch.ts";

/** refused: by the broker, for good. failed: it may work later. */
export const ENROLLMENT_RESULTS = ["issued", "waiting", "refused", "failed"] as const;
export type EnrollmentResult = (typeof ENROLLMENT_RESULTS)[number];
export const CERTIFICATE_CAUSES = ["enrollment", "renewal"] as const;
export type CertificateCause = (typeof CERTIFICATE_CAUSES)[number];

/** What the HTTP interface counts. */
export interface HttpMetrics {
  readonly answered: (route: string, status: number) => void;
  readonly demandUnmet: (reason: UnmetReason, asked: AskedRequest) => void;
  /** How a call to enroll ended. */
  readonly enrolled: (result: EnrollmentResult) => void;
  readonly certificateIssued: (by: CertificateCause) => void;
}

/** The source of gauges. It is read when metrics are scraped, not during requests. */
export interface MetricsSource {
  readonly engine: Pick<Engine, "ledger" | "now" | "onCommit" | "onRefused" | "policy" | "health">;
  /** Of several replicas this one answers for the ledger. */
  readonly isLeading: () => boolean;
  readonly openStreams: () => number;
  /** Statements between clusters that are kept. */
  readonly statements: () => number;
  readonly openConnections: () => number;
}

/** Counters of the broker. All of them are cheap: they are called during every request. */
export interface BrokerMetrics
  extends HttpMetrics,
    AuditObserver,
    Pick<EngineObserver, "decided" | "planned" | "committed" | "commitFailed" | "granted"> {
  /** The certificates that are in force from now on. */
  readonly certificatesInForce: (set: CertificateSet) => void;
  /** Counts what the engine commits from now on; the returned function ends it. */
  readonly watch: (watched: MetricsSource) => () => void;
  /** All metrics in the text format of Prometheus. */
  readonly scrape: () => Promise<string>;
  readonly contentType: string;
}
