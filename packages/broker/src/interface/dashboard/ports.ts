import type { Clock, Log } from "@resource-broker/base";
import type { CertificateSource } from "@resource-broker/runtime";
import type { Engine } from "../../engine/engine.ts";
import type { AdminAuthorities } from "../../enrollment/client-trust.ts";

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
  /** File for the list of sign-outs. Absent: in memory only. */
  readonly signOutsFile?: string;
  /** Of the broker's objects; absent while it shows none. */
  readonly objectsNamespace?: string;
  /** Of the program. */
  readonly version: string;
}

export interface DashboardDeps {
  readonly engine: Engine;
  /** The broker's own: for TLS, and for the sessions of those who came by a link. */
  readonly certificates: CertificateSource;
  /** The only authorities that make admins. Absent, undefined: all of them do. */
  readonly adminAuthorities?: AdminAuthorities;
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
