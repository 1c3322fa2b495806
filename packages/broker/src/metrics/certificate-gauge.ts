import { type CertificateSet, certificateEnds } from "@resource-broker/runtime";
import { Gauge, type Registry } from "prom-client";

/** Without the HTTP interface there are none. */
export function registerCertificateGauge(
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
      for (const { file, atSeconds } of certificateEnds(set)) this.set({ file }, atSeconds);
    },
  });
}
