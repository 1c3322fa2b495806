import type { X509Certificate } from "node:crypto";
import type { Clock, Fault, Log } from "@resource-broker/base";
import type { AuditChainDTO, DashboardLink, SliceDefaults } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { CertificateSource } from "@resource-broker/runtime";
import type { Engine } from "../../engine/engine.ts";
import type { AdminAuthorities } from "../../enrollment/client-trust.ts";
import type { Signer } from "../../enrollment/signer.ts";
import type { LiveLimits } from "../insight/live/live-hub.ts";
import type { HttpMetrics } from "../../metrics/metrics.ts";
import type { Store } from "../../store/store.ts";

export interface HttpOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Absent: every address of the machine. */
  readonly host?: string;
  readonly tlsMinVersion: "TLSv1.2" | "TLSv1.3";
  /** Certificates with this organizational unit belong to admins. */
  readonly adminUnit: string;
  readonly limits: HttpLimits;
}

export interface HttpLimits {
  readonly maxSockets: number;
  readonly maxSocketsPerCluster: number;
  readonly maxStreamsPerCluster: number;
  /** Calls of one cluster: per second on average, and at once. */
  readonly requestsPerSecond: number;
  readonly requestBurst: number;
  /** Reservations and quotes beyond this many under way are turned away. */
  readonly maxSheddableInFlight: number;
  /**
   * Calls to enroll with one token, without a right one from one address (IPv6: one /64 network), and without one from all
   * of them: per second on average, and at once.
   */
  readonly enrollmentsPerSecond: number;
  readonly enrollmentBurst: number;
  readonly allEnrollmentsPerSecond: number;
  readonly allEnrollmentBurst: number;
  /** Enrollments that are checked and signed at a time. */
  readonly maxEnrollmentsInFlight: number;
  /** Certificates that one cluster may renew: per second on average, and at once. */
  readonly renewalsPerSecond: number;
  readonly renewalBurst: number;
  /** Of all statements between clusters. */
  readonly maxStatementBytes: number;
  /** The number of changes that a reader may have missed and still continue. */
  readonly changesRemembered: number;
  readonly handshakeTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly heartbeatMs: number;
  readonly maxStreamBufferBytes: number;
  readonly maxStreamLagMs: number;
  /** How long `stop` waits for calls under way. */
  readonly stopTimeoutMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  maxSockets: 20_000,
  maxSocketsPerCluster: 64,
  maxStreamsPerCluster: 4,
  requestsPerSecond: 200,
  requestBurst: 400,
  maxSheddableInFlight: 4000,
  enrollmentsPerSecond: 1,
  enrollmentBurst: 20,
  allEnrollmentsPerSecond: 20,
  allEnrollmentBurst: 100,
  maxEnrollmentsInFlight: 8,
  renewalsPerSecond: 0.02,
  renewalBurst: 10,
  maxStatementBytes: 256 * 1024 * 1024,
  changesRemembered: 8192,
  handshakeTimeoutMs: 5000,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  // Go agents keep idle connections for 90 s: ours must live longer, or their next poll meets a reset.
  keepAliveTimeoutMs: 120_000,
  maxHeaderBytes: 16 * 1024,
  heartbeatMs: 15_000,
  maxStreamBufferBytes: 1024 * 1024,
  maxStreamLagMs: 30_000,
  stopTimeoutMs: 4000,
};

/** What the API's own port needs. */
export interface HttpDeps {
  readonly certificates: CertificateSource;
  /** The only authorities that make admins. Absent, undefined: all of them do. */
  readonly adminAuthorities?: AdminAuthorities;
  readonly clock: Clock;
  readonly log: Log;
}

/** How agents join. */
export interface Joining {
  /** Undefined: this broker enrolls nobody. */
  readonly signer: Signer | undefined;
  /** The authorities that the broker's own certificate leads to. */
  readonly authorities: () => readonly X509Certificate[];
  /** Names that no cluster may have. */
  readonly reservedNames: () => readonly string[];
}

export interface ApiDeps {
  readonly joining: Joining;
  readonly engine: Engine;
  /** Why this replica may not answer for the ledger right now. Absent: there is only one. */
  readonly notLeading?: () => Fault | undefined;
  readonly store: Pick<Store, "findDecision" | "readAudit">;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** The text of openapi.json. */
  readonly openApi: string;
  readonly policyOrigin: () => PolicyOrigin;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  /** Absent: the dashboard is off. */
  readonly dashboard?: LinkMaker;
  /** Whether the audit log is intact. */
  readonly auditChain: () => AuditChainDTO;
  /** Absent: no history is recorded. Without a file it is in memory only. */
  readonly historyIn?: { readonly file?: string } | undefined;
  /** Absent: the usual ones. */
  readonly liveLimits?: LiveLimits | undefined;
  /** Of the broker's objects; absent while it shows none. */
  readonly objectsNamespace?: string | undefined;
}

/** A link that is wanted. */
export interface LinkRequest {
  readonly role: DashboardLink["role"];
  /** The admin who asks for it. */
  readonly by: string;
  /** The admin's own: what comes of the link ends when it is revoked or runs out. */
  readonly certificate: X509Certificate;
}

/** What the API asks of the dashboard. */
export interface LinkMaker {
  readonly makeLink: (order: LinkRequest) => DashboardLink;
}

/** What the policy in force does not say of itself. */
export interface PolicyOrigin {
  readonly source: string;
  readonly loadedAt?: Instant;
  readonly sliceDefaults: SliceDefaults;
}
