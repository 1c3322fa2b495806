import type { MachineTime } from "./engine/clock.ts";
import type { Engine } from "./engine/engine.ts";
import type { Log } from "./interface/http/log.ts";
import { keyPairFolder } from "./interface/http/probe/key-pair.ts";
import type { PageGroup } from "./interface/http/probe/pages.ts";
import { createProbeInterface, type ProbeInterface } from "./interface/http/probe/probe-interface.ts";
import { engineCheck, type ReadinessCheck } from "./interface/http/probe/readiness.ts";
import type { BrokerMetrics } from "./metrics/metrics.ts";
import type { BrokerSettings } from "./settings/broker-settings.ts";
import { parseAddress } from "./settings/read-settings.ts";

export interface ProbesDeps {
  readonly engine: Engine;
  /** Whether the API takes calls. */
  readonly api: ReadinessCheck;
  readonly metrics: BrokerMetrics;
  readonly machine: MachineTime;
  readonly log: Log;
  readonly openApi: string;
}

/** The ports for probes and metrics that the settings ask for. */
export function createProbes(settings: BrokerSettings, deps: ProbesDeps) {
  const ports = [
    probeAt(settings, { address: settings["health-probe-bind-address"], group: "health" }, deps),
    probeAt(settings, { address: settings["metrics-bind-address"], group: "metrics" }, deps),
  ].filter((port) => port !== undefined);
  return {
    start: async (): Promise<void> => {
      for (const port of ports) await port.start();
    },
    stop: async (): Promise<void> => {
      await Promise.all(ports.map((port) => port.stop()));
    },
  };
}

function probeAt(
  settings: BrokerSettings,
  { address, group }: { readonly address: string; readonly group: PageGroup },
  { engine, api, metrics, machine, log, openApi }: ProbesDeps,
): ProbeInterface | undefined {
  const where = parseAddress(address);
  if (where === undefined || where === "off") return undefined;
  const isSecure = group === "metrics" && settings["metrics-secure"];
  const files = {
    folder: settings["metrics-cert-path"],
    certName: settings["metrics-cert-name"],
    keyName: settings["metrics-cert-key"],
  };
  return createProbeInterface(
    { port: where.port, ...(where.host === undefined ? {} : { host: where.host }) },
    {
      groups: [group],
      checks: [engineCheck(engine), api],
      metrics,
      openApi,
      log,
      ...(isSecure ? { tls: keyPairFolder(files, { machine, log }) } : {}),
    },
  );
}
