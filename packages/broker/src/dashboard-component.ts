import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CertificateSource, parseAddress } from "@resource-broker/runtime";
import { createDashboard, type Dashboard } from "./interface/dashboard/dashboard.ts";
import type { DashboardDeps } from "./interface/dashboard/ports.ts";
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

/** The history that is shown with it. Only an embedded store has a folder of its own. */
export function historyOf(settings: BrokerSettings): { readonly file?: string } {
  const directory = storeDirectory(settings);
  return directory === undefined ? {} : { file: join(directory, "history.bin") };
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
      ...(directory === undefined ? {} : { signOutsFile: join(directory, "dashboard-sign-outs.json") }),
      ...(clusterNeeds(settings).views ? { objectsNamespace: settings["http-namespace"] } : {}),
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
