import { text, toggle, type Values } from "@resource-broker/contract";
import { parseAddress } from "../settings/address.ts";

export interface ProbeDefaults {
  /** The pages of the health port, as a sentence names them. */
  readonly healthPages: string;
  readonly healthAddress: string;
  readonly metricsAddress: string;
}

/** Flags of the ports for probes and metrics. */
export function probeSettings({ healthPages, healthAddress, metricsAddress }: ProbeDefaults) {
  return {
    "metrics-bind-address": text({
      description: "Address of /metrics, as host:port or :port; 0 switches it off.",
      defaultValue: metricsAddress,
      placeholder: "ADDRESS",
    }),
    "health-probe-bind-address": text({
      description: `Address of ${healthPages}, as host:port or :port; 0 switches it off.`,
      defaultValue: healthAddress,
      placeholder: "ADDRESS",
    }),
    "metrics-secure": toggle({ description: "Serve /metrics over TLS.", defaultValue: false }),
    "metrics-cert-path": text({
      description: "Folder with the certificate for /metrics; needed with --metrics-secure.",
      defaultValue: "",
      placeholder: "DIR",
    }),
    "metrics-cert-name": text({
      description: "File name of that certificate.",
      defaultValue: "tls.crt",
      placeholder: "FILE",
    }),
    "metrics-cert-key": text({
      description: "File name of its key.",
      defaultValue: "tls.key",
      placeholder: "FILE",
    }),
  };
}

export type ProbeSettings = Values<ReturnType<typeof probeSettings>>;

/** What is wrong with these flags taken together. */
export function probeSettingsProblems(settings: ProbeSettings): string[] {
  const problems: string[] = [];
  if (settings["metrics-secure"] && settings["metrics-cert-path"] === "") {
    problems.push("--metrics-secure needs --metrics-cert-path");
  }
  for (const name of ["metrics-bind-address", "health-probe-bind-address"] as const) {
    if (parseAddress(settings[name]) === undefined)
      problems.push(`--${name}: write host:port, :port, or 0 for none`);
  }
  return problems;
}
