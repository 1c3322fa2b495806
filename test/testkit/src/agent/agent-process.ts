import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATH } from "@resource-broker/contract";
import { type PeerCertificates, writeCertificateFolder } from "../certificates/test-certificates.ts";
import { freePorts } from "../process/free-ports.ts";
import {
  type CommandOptions,
  isServed,
  nodeCommand,
  type OwnProgram,
  ownProgram,
} from "../process/program.ts";

const HOST = "127.0.0.1";
const SOURCE = fileURLToPath(new URL("main.ts", import.meta.resolve("@resource-broker/agent")));

/** Something that listens on the loopback: a broker, or a proxy in front of one. */
interface Listening {
  readonly port: number;
}

export interface AgentProcessOptions extends CommandOptions {
  readonly clusterId: string;
  /** Several: the agent is given all of their addresses. */
  readonly broker: Listening | readonly Listening[];
  /** The authority that the broker trusts: it makes the cluster's certificate. */
  readonly certificates: Pick<PeerCertificates, "cluster">;
  /** The text of a kubeconfig. */
  readonly kubeconfig: string;
  /** Where certificates and log are kept, and stay. Absent: in a temporary folder, which is removed at the end. */
  readonly directory?: string;
  /** Flags beside those for broker, cluster, ports and folders; a flag that is given twice counts as given last. */
  readonly flags?: readonly string[];
  readonly readyWithinMs?: number;
  /** False: it is launched, and nobody waits until it is ready. */
  readonly waits?: boolean;
}

/** A real agent in a process of its own. */
export interface AgentProcess extends OwnProgram {
  readonly clusterId: string;
  readonly probePort: number;
  readonly metricsPort: number;
  /** Write other certificates into it to rotate them. */
  readonly certificateFolder: string;
  /** What /readyz says of each check. */
  readonly readiness: () => Promise<string>;
  /** All figures in the text format of Prometheus. */
  readonly scrape: () => Promise<string>;
}

export async function startAgent(options: AgentProcessOptions): Promise<AgentProcess> {
  const { clusterId, certificates, kubeconfig, readyWithinMs, waits = true } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), `agent-${clusterId}-`)));
  const [probePort = 0, metricsPort = 0] = await freePorts(2);
  const files: AgentFiles = {
    probePort,
    metricsPort,
    certificateFolder: join(directory, "certificates"),
    kubeconfigFile: join(directory, "kubeconfig"),
  };
  const program = ownProgram({
    name: "agent",
    command: commandLine(options, files),
    directory,
    isTemporary: options.directory === undefined,
    isReady: () => isServed({ port: probePort, path: PATH.readiness }),
    readyWithinMs,
  });
  const page = async (port: number, path: string): Promise<string> =>
    (await fetch(`http://${HOST}:${port}${path}`)).text();

  try {
    await mkdir(directory, { recursive: true });
    await writeFile(files.kubeconfigFile, kubeconfig, { mode: 0o600 });
    await writeCertificateFolder(files.certificateFolder, certificates.cluster(clusterId));
    await (waits ? program.restart() : program.launch());
  } catch (error) {
    await program.dispose();
    throw error;
  }
  return {
    ...program,
    get pid() {
      return program.pid;
    },
    clusterId,
    probePort,
    metricsPort,
    certificateFolder: files.certificateFolder,
    readiness: () => page(probePort, "/readyz?verbose"),
    scrape: () => page(metricsPort, "/metrics"),
  };
}

interface AgentFiles {
  readonly probePort: number;
  readonly metricsPort: number;
  readonly certificateFolder: string;
  readonly kubeconfigFile: string;
}

function commandLine(options: AgentProcessOptions, files: AgentFiles): string[] {
  const { clusterId, broker, flags = [] } = options;
  const brokers = [broker].flat();
  return [
    ...nodeCommand(SOURCE, options),
    `--cluster-id=${clusterId}`,
    `--broker-url=${brokers.map(({ port }) => `https://${HOST}:${port}`).join(",")}`,
    `--broker-cert-path=${files.certificateFolder}`,
    `--kubeconfig=${files.kubeconfigFile}`,
    `--metrics-bind-address=${HOST}:${files.metricsPort}`,
    `--health-probe-bind-address=${HOST}:${files.probePort}`,
    "--log-format=json",
    ...flags,
  ];
}
