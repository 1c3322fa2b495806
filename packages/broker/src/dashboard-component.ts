import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CertificateSource, parseAddress } from "@resource-broker/runtime";
import { createDashboard, type Dashboard } from "./interface/dashboard/dashboard.ts";
import { type DashboardDeps, DEFAULT_DASHBOARD_LIMITS } from "./interface/dashboard/ports.ts";
import type { BrokerSettings } from "./settings/broker-settings.ts";
import { clusterNeeds, storeDirectory } from "./settings/read-settings.ts";

/** Folders that may hold the built pages: beside the bundle, or in the work tree. */
const FOLDERS = ["./dashboard/", "../../../apps/dashboard/dist/"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

export interface DashboardComponentDeps extends Omit<DashboardDeps, "certificates" | "api"> {
  readonly certificates: () => CertificateSource;
  /** The port of the API; undefined: there is none, or not yet. */
  readonly apiPort: () => number | undefined;
}

/** The dashboard that the settings ask for; undefined: it is off. */
export function dashboardComponent(
  settings: BrokerSettings,
  version: string,
  { certificates, apiPort, ...deps }: DashboardComponentDeps,
): Dashboard | undefined {
  const address = parseAddress(settings["dashboard-bind-address"]);
  if (address === undefined || address === "off") return undefined;
  const directory = storeDirectory(settings);
  const { host, port } = address;
  return createDashboard(
    {
      ...(host === undefined ? {} : { host }),
      port,
      tlsMinVersion: settings["tls-min-version"] === "1.3" ? "TLSv1.3" : "TLSv1.2",
      adminUnit: settings["admin-ou"],
      folders: FOLDERS,
      version,
      // Only an embedded store has a folder of its own.
      ...(directory === undefined
        ? {}
        : {
            historyFile: join(directory, "history.bin"),
            signOutsFile: join(directory, "dashboard-sign-outs.json"),
          }),
      ...(clusterNeeds(settings).views ? { objectsNamespace: settings["http-namespace"] } : {}),
      limits: DEFAULT_DASHBOARD_LIMITS,
    },
    {
      ...deps,
      certificates: certificates(),
      api: () => {
        const apiAt = apiPort();
        return apiAt === undefined ? undefined : { host: settings["http-host"], port: apiAt };
      },
    },
  );
}
