import { type CertificateSet, certificateEnds, type Figures, type Reloads } from "@resource-broker/runtime";

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

export function addReloadGauge(figures: Figures, reloads: Reloads["statuses"]): void {
  figures.read(
    {
      name: "agent_last_reload_successful",
      help: "1 while what is in force is what was found last, 0 while it could not be read again and the one before stays in force, by what it is.",
      type: "gauge",
    },
    () =>
      reloads().map(({ source, problem }) => ({ labels: { source }, value: problem === undefined ? 1 : 0 })),
  );
}
