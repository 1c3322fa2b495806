import {
  type CertificateSet,
  certificateExpiries,
  type Reloads,
  revokedCount,
} from "@resource-broker/runtime";
import { Gauge, type Registry } from "prom-client";

/** Without the HTTP interface there are none. */
export function registerCertificateGauges(
  registry: Registry,
  inForce: () => CertificateSet | undefined,
): void {
  new Gauge({
    name: "broker_certificate_expiry_timestamp_seconds",
    help: "When a certificate in force expires; of several authorities in `ca.crt` the last one.",
    labelNames: ["file"],
    registers: [registry],
    collect() {
      this.reset();
      const set = inForce();
      if (set === undefined) return;
      for (const { file, atSeconds } of certificateExpiries(set)) this.set({ file }, atSeconds);
    },
  });
  new Gauge({
    name: "broker_revoked_certificates",
    help: "Certificates that are revoked by the lists of `crl.pem` in force.",
    registers: [registry],
    collect() {
      const set = inForce();
      // Unset instead of 0: the number is not known yet.
      if (set === undefined) this.remove();
      else this.set(revokedCount(set));
    },
  });
}

export function registerReloadGauge(registry: Registry, reloads: Reloads["statuses"]): void {
  new Gauge({
    name: "broker_last_reload_successful",
    help: "1 while what is in force is what was found last, 0 while it could not be read again and the one before stays in force, by what it is.",
    labelNames: ["source"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { source, problem } of reloads()) this.set({ source }, problem === undefined ? 1 : 0);
    },
  });
}
