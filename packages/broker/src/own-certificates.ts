import type { Clock, Log } from "@resource-broker/base";
import {
  type CertificateSource,
  certificateFolder,
  type MoreAuthorities,
  type Reloads,
} from "@resource-broker/runtime";
import type { BrokerSettings } from "./settings/broker-settings.ts";

const CERTIFICATE_OWNER = { name: "the broker", peers: "clients", remedy: "brokerctl certs init" };

export interface OwnCertificatesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly reloads: Pick<Reloads, "source">;
  /** Authorities to trust beside those of the folder. */
  readonly more: MoreAuthorities;
}

/** The broker's own certificate and the authorities of its clients. */
export function ownCertificates(
  settings: Pick<BrokerSettings, "http-cert-path">,
  { reloads, ...deps }: OwnCertificatesDeps,
): CertificateSource {
  const report = reloads.source("certificates");
  return certificateFolder(settings["http-cert-path"], { owner: CERTIFICATE_OWNER, report, ...deps });
}
