import type { Clock, Log } from "@resource-broker/base";
import type { CertificateSource } from "@resource-broker/runtime";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { HttpDeps } from "../http/ports.ts";

export interface DashboardOptions {
  /** Absent: every address of the machine. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tlsMinVersion: "TLSv1.2" | "TLSv1.3";
  /** Certificates with this organizational unit belong to admins. */
  readonly adminUnit: string;
  /** Where the pages may be; the first folder that has them counts. */
  readonly folders: readonly string[];
  /** File for the history. Absent: in memory only. */
  readonly historyFile?: string;
  /** File for the list of sign-outs. Absent: in memory only. */
  readonly signOutsFile?: string;
  /** Of the broker's objects; absent while it shows none. */
  readonly objectsNamespace?: string;
  /** Of the program. */
  readonly version: string;
  readonly limits: DashboardLimits;
}

export interface DashboardLimits {
  readonly maxSockets: number;
  /** A browser opens up to six connections to one host, and a page may stand open in many tabs. */
  readonly maxStreams: number;
  /** Limit per session or per admin certificate. */
  readonly maxStreamsPerSession: number;
  readonly requestsPerSecond: number;
  readonly requestBurst: number;
  /** The number of changes that a page may have missed and still continue. */
  readonly changesRemembered: number;
  readonly maxStreamBufferBytes: number;
  readonly stopTimeoutMs: number;
}

export const DEFAULT_DASHBOARD_LIMITS: DashboardLimits = {
  maxSockets: 1000,
  maxStreams: 100,
  maxStreamsPerSession: 16,
  requestsPerSecond: 50,
  requestBurst: 200,
  changesRemembered: 4096,
  maxStreamBufferBytes: 1024 * 1024,
  stopTimeoutMs: 2000,
};

export interface DashboardDeps {
  readonly engine: Engine;
  readonly notLeading?: HttpDeps["notLeading"];
  readonly store: Pick<Store, "findDecision" | "readAudit">;
  /** The broker's own: for TLS, and for the sessions of those who came by a link. */
  readonly certificates: CertificateSource;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly log: Log;
  /** Where the API listens; undefined without one, or before it does. */
  readonly api: () => ApiAddress | undefined;
}

export interface ApiAddress {
  /** "": every address of the machine. */
  readonly host: string;
  readonly port: number;
}
