import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Log } from "@resource-broker/base";
import type { CertificateSet, Reloads } from "@resource-broker/runtime";
import type { BrokerCluster } from "../cluster-access.ts";
import { reservedNames } from "../interface/http/connections.ts";
import type { Joining } from "../interface/http/ports.ts";
import type { BrokerSettings } from "../settings/broker-settings.ts";
import { certManagerSigner, parseIssuer } from "./cert-manager-signer.ts";
import { type ClientTrust, clientTrust } from "./client-trust.ts";
import { embeddedSigner } from "./embedded-signer.ts";
import type { Signer } from "./signer.ts";

const ALL_MAKE_ADMINS =
  "every authority that the broker trusts may make admins: there is no --admin-ca, and no admin-ca.crt in --http-cert-path";

export interface EnrollmentDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly reloads: Pick<Reloads, "source">;
  readonly open: () => Promise<BrokerCluster>;
}

/** Who signs the certificates of agents, and whose certificates are trusted. */
export interface Enrollment {
  /** Undefined: this broker enrolls nobody. */
  readonly signer: Signer | undefined;
  readonly trust: ClientTrust;
  /** Must be called before the certificates of a port are read. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
}

type EnrollmentSettings = Pick<
  BrokerSettings,
  | "admin-ca"
  | "broker-interface"
  | "http-cert-path"
  | "enrollment-cert-path"
  | "enrollment-issuer"
  | "enrollment-lifetime"
>;

export function createEnrollment(settings: EnrollmentSettings, deps: EnrollmentDeps): Enrollment {
  const lifetimeMs = settings["enrollment-lifetime"];
  const folder = settings["enrollment-cert-path"];
  const issuer = parseIssuer(settings["enrollment-issuer"]);
  const embedded =
    folder === ""
      ? undefined
      : embeddedSigner({ folder, lifetimeMs }, { ...deps, report: deps.reloads.source("enrollment-ca") });
  const adminCa = adminCaFile(settings);
  const trust = clientTrust({
    adminCa,
    enrollmentAuthorities: () => embedded?.authorities() ?? [],
    onChange: (listener) => embedded?.onChange(listener) ?? (() => undefined),
  });
  return {
    signer: embedded ?? (issuer && certManagerSigner({ issuer, lifetimeMs }, deps)),
    trust,
    start: async () => {
      if (adminCa === undefined && settings["broker-interface"].includes("http"))
        deps.log.warn({}, ALL_MAKE_ADMINS);
      await embedded?.start();
      // Fail at start if the kubeconfig cannot be read.
      if (issuer !== undefined) await deps.open();
    },
    stop: () => embedded?.stop(),
  };
}

/** As `brokerctl certs init` leaves it: beside the broker's own certificate. Without one, every authority may make admins. */
function adminCaFile({
  "admin-ca": named,
  "http-cert-path": folder,
}: EnrollmentSettings): string | undefined {
  if (named !== "") return named;
  const beside = join(folder, "admin-ca.crt");
  return existsSync(beside) ? beside : undefined;
}

/** What the API needs to know of it, with the certificates in force. */
export function joiningOf({ signer, trust }: Enrollment, inForce: () => CertificateSet | undefined): Joining {
  return {
    signer,
    authorities: () => {
      const set = inForce();
      return set === undefined ? [] : trust.serverAuthorities(set);
    },
    reservedNames: () => {
      const set = inForce();
      return set === undefined ? [] : reservedNames(set);
    },
  };
}
