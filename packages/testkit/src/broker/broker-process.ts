import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type TestCertificates, writeCertificateFolder } from "../certificates/test-certificates.ts";
import { type BrokerClient, brokerClient, type ClientOptions } from "./broker-client.ts";
import { childOf } from "./child.ts";
import { freePorts } from "./free-ports.ts";
import { startGuardian } from "./guardian.ts";
import { untilReady } from "./readiness.ts";

const HOST = "127.0.0.1";
const SOURCE = fileURLToPath(new URL("main.ts", import.meta.resolve("@resource-broker/broker")));
const ADMIN = "admin";

export interface BrokerProcessOptions {
  readonly certificates: TestCertificates;
  /** Where ledger and log are kept, and stay. Absent: in a temporary folder, which is removed at the end. */
  readonly directory?: string;
  /** Flags of the broker beside those for ports and folders. */
  readonly flags?: readonly string[];
  readonly nodeFlags?: readonly string[];
  /** The core it may run on. Absent: any. */
  readonly cpu?: number;
  /** A bundled broker. Absent: the sources. */
  readonly program?: string;
  readonly readyWithinMs?: number;
}

/** A real broker in a process of its own, on free ports of the loopback. */
export interface BrokerProcess {
  readonly port: number;
  readonly probePort: number;
  readonly metricsPort: number;
  readonly storeDirectory: string;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** The client of a cluster; the same one each time. */
  readonly clientFor: (clusterId: string, options?: Pick<ClientOptions, "maxSockets">) => BrokerClient;
  /** The client of an admin. */
  readonly admin: () => BrokerClient;
  /** Sends a signal and waits for the end. Returns the exit code; null after a deadly signal. */
  readonly kill: (signal: NodeJS.Signals) => Promise<number | null>;
  /** Starts again with the same ledger on the same ports. Resolves when ready; says how long that took. */
  readonly restart: () => Promise<{ readonly readyAfterMs: number }>;
  /** The same without waiting for it to be ready. */
  readonly launch: () => Promise<void>;
  /** Asks it to stop, as a supervisor would. */
  readonly stop: () => Promise<number | null>;
  /** Ends everything, also after a failure, and removes what was temporary. */
  readonly dispose: () => Promise<void>;
  /** What it has logged so far, also before a restart. */
  readonly logLines: () => Promise<string[]>;
}

export async function startBroker(options: BrokerProcessOptions): Promise<BrokerProcess> {
  const { certificates, readyWithinMs = 20_000 } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "broker-")));
  const guardian = startGuardian(options.directory === undefined ? directory : "");
  const [port = 0, probePort = 0, metricsPort = 0] = await freePorts(3);
  const places = { ports: { port, probePort, metricsPort }, ...placesIn(directory) };
  const child = childOf({
    command: commandLine(options, places),
    cwd: directory,
    logFile: join(directory, "broker.log"),
    guardian,
  });
  const clients = new Map<string, BrokerClient>();
  await writeCertificateFolder(places.certificateFolder, certificates.broker);

  const restart = async (): Promise<{ readonly readyAfterMs: number }> => {
    const startedAt = performance.now();
    await child.launch();
    const endpoints = { port, probePort, ca: certificates.broker.ca };
    const isRunning = (): boolean => child.pid() !== undefined;
    if (!(await untilReady(endpoints, { isRunning, withinMs: readyWithinMs }))) {
      const last = (await child.logLines()).slice(-5).join("\n");
      throw new Error(`the broker is not ready after ${readyWithinMs} ms, or has ended:\n${last}`);
    }
    return { readyAfterMs: performance.now() - startedAt };
  };

  const clientOnce = (
    clusterId: string,
    make: () => Omit<ClientOptions, "clusterId" | "port">,
  ): BrokerClient => {
    const client = clients.get(clusterId) ?? brokerClient({ clusterId, port, ...make() });
    clients.set(clusterId, client);
    return client;
  };

  const dispose = async (): Promise<void> => {
    for (const client of clients.values()) client.close();
    await child.kill("SIGKILL");
    await guardian.finish();
  };

  const broker: BrokerProcess = {
    port,
    probePort,
    metricsPort,
    storeDirectory: places.storeDirectory,
    get pid() {
      return child.pid();
    },
    clientFor: (clusterId, more = {}) =>
      clientOnce(clusterId, () => ({ credentials: certificates.cluster(clusterId), ...more })),
    admin: () => clientOnce(ADMIN, () => ({ credentials: certificates.admin(ADMIN) })),
    kill: child.kill,
    restart,
    launch: child.launch,
    stop: () => child.kill("SIGTERM"),
    dispose,
    logLines: child.logLines,
  };
  try {
    await restart();
    return broker;
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface Places {
  readonly ports: Pick<BrokerProcess, "port" | "probePort" | "metricsPort">;
  readonly storeDirectory: string;
  readonly certificateFolder: string;
}

function placesIn(directory: string): Omit<Places, "ports"> {
  return { storeDirectory: join(directory, "store"), certificateFolder: join(directory, "certificates") };
}

function commandLine(options: BrokerProcessOptions, places: Places): string[] {
  const { cpu, nodeFlags = [], program = SOURCE, flags = [] } = options;
  const { ports, storeDirectory, certificateFolder } = places;
  return [
    ...(cpu === undefined ? [] : ["taskset", "-c", String(cpu)]),
    process.execPath,
    ...nodeFlags,
    program,
    `--http-host=${HOST}`,
    `--http-port=${ports.port}`,
    `--http-cert-path=${certificateFolder}`,
    `--store=sqlite:${storeDirectory}`,
    `--metrics-bind-address=${HOST}:${ports.metricsPort}`,
    `--health-probe-bind-address=${HOST}:${ports.probePort}`,
    "--log-format=json",
    ...flags,
  ];
}
