import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, readAgentSettings } from "@resource-broker/agent";
import type { Clock, Log } from "@resource-broker/base";
import { type PeerCertificates, writeCertificateFolder } from "../certificates/test-certificates.ts";
import { MACHINE_CLOCK } from "../time/machine-clock.ts";

const RANDOM_STEPS = 2 ** 32;

export interface InProcessAgentOptions {
  readonly clusterId: string;
  readonly brokerUrl: string;
  readonly certificates: Pick<PeerCertificates, "cluster">;
  readonly kubeconfigFile: string;
  /** Absent: this machine's own clocks. */
  readonly clock?: Clock;
  readonly flags?: readonly string[];
}

/** An agent in this process, for tests that control its clock. */
export interface InProcessAgent {
  /** What it said, oldest first. */
  readonly log: readonly string[];
  readonly stop: () => Promise<void>;
}

export async function startInProcessAgent(options: InProcessAgentOptions): Promise<InProcessAgent> {
  const { log, start, stop } = await createInProcessAgent(options);
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { log, stop };
}

/** One that has not started yet; one that lacks a right may never have. */
export async function createInProcessAgent(
  options: InProcessAgentOptions,
): Promise<InProcessAgent & { readonly start: () => Promise<unknown> }> {
  const { clusterId, brokerUrl, certificates, kubeconfigFile, flags = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), `inside-${clusterId}-`));
  await writeCertificateFolder(folder, certificates.cluster(clusterId));
  const reading = await readAgentSettings({
    argv: [
      `--broker-url=${brokerUrl}`,
      `--broker-cert-path=${folder}`,
      `--kubeconfig=${kubeconfigFile}`,
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      ...flags,
    ],
    env: {},
    readFile: async () => ({}),
  });
  if (!reading.ok) throw new Error(reading.problems.join("; "));
  const log: string[] = [];
  const agent = createAgent(reading.settings, {
    clock: options.clock ?? MACHINE_CLOCK,
    random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
    randomBytes,
    env: {},
    log: logTo(log),
    onFatal: (error) => void log.push(`fatal: ${error.message}`),
  });
  const stop = async (): Promise<void> => {
    await agent.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { log, start: agent.start, stop };
}

function logTo(lines: string[]): Log {
  const say: Log["info"] = (fields, message) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { info: say, warn: say, error: say };
}
