import type { Log } from "../log/log.ts";
import { parseAddress } from "../settings/address.ts";
import type { Clock } from "../time/machine-time.ts";
import { keyPairFolder } from "./key-pair.ts";
import type { PageDeps, PageGroup } from "./pages.ts";
import { createProbeServer, type ProbeServer } from "./probe-interface.ts";
import type { ProbeSettings } from "./probe-settings.ts";
import type { Reloads } from "./reloads.ts";

export interface ProbesDeps extends Omit<PageDeps, "groups"> {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** What is read again while the program runs: shown as a check, and told of the certificate of /metrics. */
  readonly reloads: Reloads;
}

export interface Probes {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The ports for probes and metrics that the settings ask for. */
export function createProbes(settings: ProbeSettings, deps: ProbesDeps): Probes {
  const ports = [
    probeAt(settings, { address: settings["health-probe-bind-address"], group: "health" }, deps),
    probeAt(settings, { address: settings["metrics-bind-address"], group: "metrics" }, deps),
  ].filter((port) => port !== undefined);
  return {
    start: async () => {
      for (const port of ports) await port.start();
    },
    stop: async () => {
      await Promise.all(ports.map((port) => port.stop()));
    },
  };
}

function probeAt(
  settings: ProbeSettings,
  { address, group }: { readonly address: string; readonly group: PageGroup },
  { clock, log, reloads, ...pages }: ProbesDeps,
): ProbeServer | undefined {
  const where = parseAddress(address);
  if (where === undefined || where === "off") return undefined;
  const isSecure = group === "metrics" && settings["metrics-secure"];
  const files = {
    folder: settings["metrics-cert-path"],
    certName: settings["metrics-cert-name"],
    keyName: settings["metrics-cert-key"],
  };
  return createProbeServer(
    { port: where.port, ...(where.host === undefined ? {} : { host: where.host }) },
    {
      ...pages,
      checks: [...pages.checks, reloads.check],
      groups: [group],
      log,
      ...(isSecure
        ? {
            tls: keyPairFolder(files, { clock, log, report: reloads.source("metrics-certificate") }),
          }
        : {}),
    },
  );
}
