import {
  type CertificateSet,
  certificateExpiries,
  type MetricsRegistry,
  type Reloads,
} from "@resource-broker/runtime";

/** The Kubernetes transport has no certificates. */
export function addCertificateGauge(
  registry: MetricsRegistry,
  inForce: () => CertificateSet | undefined,
): void {
  registry.collector(
    {
      name: "agent_certificate_expiry_timestamp_seconds",
      help: "When a certificate in force expires; of several authorities in `ca.crt` the last one.",
      type: "gauge",
    },
    () => {
      const set = inForce();
      if (set === undefined) return [];
      return certificateExpiries(set).map(({ file, atSeconds }) => ({ labels: { file }, value: atSeconds }));
    },
  );
}

export function addReloadGauge(registry: MetricsRegistry, reloads: Reloads["statuses"]): void {
  registry.collector(
    {
      name: "agent_last_reload_successful",
      help: "1 while the last reload succeeded, 0 while it failed and the previous version stays in use, by source.",
      type: "gauge",
    },
    () =>
      reloads().map(({ source, problem }) => ({ labels: { source }, value: problem === undefined ? 1 : 0 })),
  );
}
