import { text, toggle, type Values } from "@resource-broker/base";

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

export interface Address {
  readonly host: string | undefined;
  readonly port: number;
}

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`; "off" for `0` or nothing; undefined for anything else. */
export function parseAddress(text: string): Address | "off" | undefined {
  if (text === "0" || text === "") return "off";
  const [, host = "", digits = ""] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) return undefined;
  return { host: host === "" ? undefined : host.replace(/^\[|\]$/g, ""), port };
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
