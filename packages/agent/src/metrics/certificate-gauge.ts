import { type CertificateSet, certificateEnds, type Figures } from "@resource-broker/runtime";

/** Over the Kubernetes transport there are none. */
export function addCertificateGauge(figures: Figures, inForce: () => CertificateSet | undefined): void {
  figures.read(
    {
      name: "agent_certificate_expiry_timestamp_seconds",
      help: "When a certificate in force expires; of several authorities in `ca.crt` the last one.",
      type: "gauge",
    },
    () => {
      const set = inForce();
      if (set === undefined) return [];
      return certificateEnds(set).map(({ file, atSeconds }) => ({ labels: { file }, value: atSeconds }));
    },
  );
}
