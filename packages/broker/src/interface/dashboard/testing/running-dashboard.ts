import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fault } from "@resource-broker/base";
import { type DashboardLink, PATH } from "@resource-broker/contract";
import {
  type FakeClock,
  fakeClock,
  type MemoryDisk,
  memoryDisk,
  memoryStore,
  testCertificates,
} from "@resource-broker/testkit";
import { afterEach } from "vitest";
import {
  type CallOptions,
  type ClientCredentials,
  type Listening,
  listenTo,
  send,
  type Target,
  type TestReply,
} from "../../http/testing/call.ts";
import {
  type BrokerParts,
  countedBytes,
  type RunningBroker,
  runBroker,
  type StaticCertificates,
  staticCertificates,
} from "../../http/testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT } from "../../http/testing/samples.ts";
import { createDashboard, type Dashboard } from "../dashboard.ts";

export const certificates = await testCertificates();

/** Who makes links in tests. */
export const BY_OPS = { by: "ops", certificate: new X509Certificate(certificates.admin("ops").cert) };

export interface DashboardParts {
  readonly time?: FakeClock;
  readonly disk?: MemoryDisk;
  readonly policy?: NonNullable<BrokerParts["policy"]>;
  readonly limits?: NonNullable<BrokerParts["limits"]>;
  readonly liveLimits?: NonNullable<BrokerParts["liveLimits"]>;
  /** Absent: 127.0.0.1, and plain HTTP. */
  readonly host?: string;
  readonly signOutsFile?: string;
  readonly randomBytes?: (size: number) => Uint8Array;
  readonly objectsNamespace?: string;
  readonly notLeading?: () => Fault | undefined;
}

export interface RunningDashboard {
  readonly broker: RunningBroker;
  readonly dashboard: Dashboard;
  readonly time: FakeClock;
  readonly port: number;
  /** Without a session. */
  readonly visit: (what: string, options?: CallOptions) => Promise<TestReply>;
  /** With a client certificate; undefined: with none. Only over TLS. */
  readonly visitAs: (
    who: ClientCredentials | undefined,
    what: string,
    options?: CallOptions,
  ) => Promise<TestReply>;
  /** A browser that came by a link. */
  readonly signIn: (role?: DashboardLink["role"]) => Promise<Browser>;
  /** Puts other certificates in force at the dashboard's own port, as a changed folder would. */
  readonly replaceCertificates: StaticCertificates["replace"];
  /** The cluster advertises. */
  readonly advertise: (clusterId: string, more?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface Browser {
  readonly cookie: string;
  readonly get: (path: string) => Promise<TestReply>;
  readonly send: (what: string, body?: unknown) => Promise<TestReply>;
  readonly listen: (lastEventId?: string) => Promise<Listening>;
}

/** Called once in a test file, outside its tests. Everything is stopped after its test. */
export function runningDashboards(): (parts?: DashboardParts) => Promise<RunningDashboard> {
  const endings: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });
  return async (parts = {}) => {
    const running = await start(parts);
    endings.push(running.stop);
    return running;
  };
}

async function start(parts: DashboardParts): Promise<RunningDashboard> {
  const { time = fakeClock(), disk = memoryDisk(), host = "127.0.0.1" } = parts;
  const folder = builtPages();
  const made: Dashboard[] = [];
  const held = staticCertificates({ crl: undefined, ...certificates.broker });
  const broker = await runBroker({
    ...parts,
    store: memoryStore(disk),
    clock: time,
    certificates: certificates.broker,
    dashboard: (engine, log) => {
      const dashboard = createDashboard(
        {
          ...(host === "" ? {} : { host }),
          port: 0,
          tlsMinVersion: "TLSv1.2",
          adminUnit: "broker-admin",
          folders: [join(folder, "missing"), folder],
          version: "1.2.3",
          ...(parts.signOutsFile === undefined ? {} : { signOutsFile: parts.signOutsFile }),
          ...(parts.objectsNamespace === undefined ? {} : { objectsNamespace: parts.objectsNamespace }),
        },
        {
          engine,
          clock: time,
          log,
          randomBytes: parts.randomBytes ?? countedBytes(),
          certificates: held,
          api: () => ({ host: "", port: 8443 }),
        },
      );
      made.push(dashboard);
      return dashboard;
    },
  });
  const [dashboard] = made;
  if (dashboard === undefined) throw new Error("the broker made no dashboard");
  const { port } = await dashboard.start(broker.api);
  const isSecure = host !== "127.0.0.1";
  const plain: Target = { port, ...(isSecure ? { credentials: { ca: certificates.broker.ca } } : {}) };
  const origin = `${isSecure ? "https" : "http"}://127.0.0.1:${port}`;
  let isStopped = false;

  const signIn = async (role: DashboardLink["role"] = "admin"): Promise<Browser> => {
    const token = tokenIn(dashboard.makeLink({ role, ...BY_OPS }).url);
    const own = { Origin: origin, "X-Broker-Dashboard": "1" };
    const { status, headers, text } = await send(plain, `POST ${PATH.session}`, {
      body: { token },
      headers: own,
    });
    if (status !== 200) throw new Error(`not signed in: ${status} ${text}`);
    const cookie = headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    return {
      cookie,
      get: (path) => send(plain, `GET ${path}`, { headers: { ...NEWER_AGENT, Cookie: cookie } }),
      send: (what, body) => send(plain, what, { body, headers: { ...own, Cookie: cookie } }),
      listen: (lastEventId) =>
        listenTo(plain, `GET ${PATH.events}`, {
          headers: {
            Cookie: cookie,
            ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
          },
        }),
    };
  };

  return {
    broker,
    dashboard,
    time,
    port,
    visit: (what, options) => send(plain, what, options),
    visitAs: (who, what, options) =>
      send({ port, credentials: who ?? { ca: certificates.broker.ca } }, what, options),
    signIn,
    replaceCertificates: held.replace,
    advertise: async (clusterId, more = {}) => {
      const body = advertisementOf(clusterId, more);
      const { status, text } = await broker.call(
        certificates.cluster(clusterId),
        "POST /api/v1/advertisements",
        { body, headers: NEWER_AGENT },
      );
      if (status !== 200) throw new Error(text);
    },
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await dashboard.stop();
      await broker.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

export function tokenIn(url: string): string {
  return url.slice(url.indexOf("#token=") + "#token=".length);
}

/** As the build leaves them: a page, and files with a digest in their name, packed as well. */
function builtPages(): string {
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>pages</title>");
  writeFileSync(join(folder, "index.html.br"), "packed by brotli");
  writeFileSync(join(folder, "favicon.svg"), "<svg/>");
  writeFileSync(join(folder, "assets", "main-a1b2c3.js"), "export {};");
  writeFileSync(join(folder, "assets", "main-a1b2c3.js.gz"), "packed by gzip");
  return folder;
}
