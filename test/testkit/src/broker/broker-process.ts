import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CallSender, createDirectCalls, type DirectCalls } from "@resource-broker/client";
import { PATH } from "@resource-broker/contract";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import { systemClock } from "@resource-broker/runtime";
import { type PeerCertificates, writeCertificateFolder } from "../certificates/test-certificates.ts";
import { freePorts } from "../process/free-ports.ts";
import {
  type CommandOptions,
  isServed,
  nodeCommand,
  type OwnProgram,
  ownProgram,
} from "../process/program.ts";
import { type BrokerClient, brokerClient, type ClientOptions } from "./broker-client.ts";

const HOST = "127.0.0.1";
const SOURCE = fileURLToPath(new URL("main.ts", import.meta.resolve("@resource-broker/broker")));
const ADMIN = "admin";
/** Only guards: a broker on a busy machine takes its time. */
const LIMITS = { timeoutMs: 30_000, maxBytes: 64 * 1024 * 1024 };
/** Only measures time: calls do not read the wall clock. */
const CLOCK = systemClock(() => 0);

export interface BrokerProcessOptions extends CommandOptions {
  readonly certificates: PeerCertificates;
  /** Where ledger and log are kept, and stay. Absent: in a temporary folder, which is removed at the end. */
  readonly directory?: string;
  /** Another store than the one in its folder. */
  readonly store?: string;
  /** True: one of several replicas, which may not be the first to serve; nobody waits until it is ready. */
  readonly isReplica?: boolean;
  /** Flags of the broker beside those for ports and folders. */
  readonly flags?: readonly string[];
  /** Its policy, written to a file beside the ledger. Absent: the built-in one, unless a flag names another. */
  readonly policy?: PolicyDTO;
  readonly readyWithinMs?: number;
  /** Where its API listens. Absent: on a free port. */
  readonly port?: number;
}

/** A real broker in a process of its own, on free ports of the loopback; a restart finds the same ledger. */
export interface BrokerProcess extends OwnProgram {
  readonly port: number;
  readonly probePort: number;
  readonly metricsPort: number;
  readonly storeDirectory: string;
  /** The client of a cluster; the same one each time. */
  readonly clientFor: (clusterId: string, options?: Pick<ClientOptions, "maxSockets">) => BrokerClient;
  /** The client of an admin. */
  readonly admin: () => BrokerClient;
  /** Typed calls as this cluster, without retries; absent: as an admin. For all that does not need raw replies. */
  readonly api: (clusterId?: string) => CallSender;
}

export async function startBroker(options: BrokerProcessOptions): Promise<BrokerProcess> {
  const { certificates, readyWithinMs } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "broker-")));
  const [freePort = 0, probePort = 0, metricsPort = 0] = await freePorts(3);
  const port = options.port ?? freePort;
  const places = { ports: { port, probePort, metricsPort }, ...filesIn(directory) };
  const { ca } = certificates.broker;
  // The probe may answer a moment before the API's port is open; without the HTTP interface nobody opens it.
  const hasApi = options.flags?.includes("--broker-interface=kubernetes") !== true;
  const program = ownProgram({
    name: "broker",
    command: commandLine(options, places),
    directory,
    isTemporary: options.directory === undefined,
    isReady: async () =>
      (await isServed({ port: probePort, path: PATH.readiness })) &&
      (!hasApi || (await isServed({ port, path: PATH.health, ca }))),
    readyWithinMs,
  });
  const clients = new Map<string, BrokerClient>();

  const clientOnce = (
    clusterId: string,
    make: () => Omit<ClientOptions, "clusterId" | "port">,
  ): BrokerClient => {
    const client = clients.get(clusterId) ?? brokerClient({ clusterId, port, ...make() });
    clients.set(clusterId, client);
    return client;
  };

  const calls = new Map<string | undefined, DirectCalls>();
  const url = new URL(`https://${HOST}:${port}`);
  const api = (clusterId?: string): CallSender => {
    const { cert, key, ca } =
      clusterId === undefined ? certificates.admin(ADMIN) : certificates.cluster(clusterId);
    const made =
      calls.get(clusterId) ?? createDirectCalls({ certificates: { cert, key, ca }, ...LIMITS }, CLOCK);
    calls.set(clusterId, made);
    return { request: (call) => made.request(call, url) };
  };

  const dispose = async (): Promise<void> => {
    for (const client of [...clients.values(), ...calls.values()]) client.close();
    await program.dispose();
  };

  const broker: BrokerProcess = {
    ...program,
    get pid() {
      return program.pid;
    },
    port,
    probePort,
    metricsPort,
    storeDirectory: places.storeDirectory,
    clientFor: (clusterId, more = {}) =>
      clientOnce(clusterId, () => ({ credentials: certificates.cluster(clusterId), ...more })),
    admin: () => clientOnce(ADMIN, () => ({ credentials: certificates.admin(ADMIN) })),
    api,
    dispose,
  };
  try {
    await writeCertificateFolder(places.certificateFolder, certificates.broker);
    await writePolicy(options.policy, places.policyFile);
    if (options.isReplica === true) await program.launch();
    else await program.restart();
    return broker;
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** JSON is YAML. */
async function writePolicy(policy: PolicyDTO | undefined, file: string): Promise<void> {
  if (policy !== undefined) await writeFile(file, JSON.stringify(policy));
}

interface BrokerFiles {
  readonly ports: Pick<BrokerProcess, "port" | "probePort" | "metricsPort">;
  readonly storeDirectory: string;
  readonly certificateFolder: string;
  readonly policyFile: string;
}

function filesIn(directory: string): Omit<BrokerFiles, "ports"> {
  return {
    storeDirectory: join(directory, "store"),
    certificateFolder: join(directory, "certificates"),
    policyFile: join(directory, "policy.yaml"),
  };
}

function commandLine(options: BrokerProcessOptions, places: BrokerFiles): string[] {
  const { ports, storeDirectory, certificateFolder, policyFile } = places;
  const { flags = [], store = `sqlite:${storeDirectory}` } = options;
  return [
    ...nodeCommand(SOURCE, options),
    `--http-host=${HOST}`,
    `--http-port=${ports.port}`,
    `--http-cert-path=${certificateFolder}`,
    `--store=${store}`,
    `--metrics-bind-address=${HOST}:${ports.metricsPort}`,
    `--health-probe-bind-address=${HOST}:${ports.probePort}`,
    "--log-format=json",
    ...(options.policy === undefined ? [] : [`--policy=${policyFile}`]),
    ...flags,
  ];
}
