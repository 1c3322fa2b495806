import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type AgentProcess,
  type AgentProcessOptions,
  type BrokerProcess,
  type BrokerProcessOptions,
  startAgent,
  startBroker,
} from "@resource-broker/testkit";
import { programsNamed } from "../../../scripts/bundle/programs.ts";
import type { Context } from "../evaluation-test.ts";

/** Only a guard: a busy machine is no failure. */
const READY_WITHIN_MS = 120_000;

type BrokerOptions = Omit<BrokerProcessOptions, "program" | "cpu" | "readyWithinMs">;
type AgentOptions = Omit<AgentProcessOptions, "program" | "readyWithinMs">;
type Measured = Pick<Context, "programs" | "cores" | "folder">;

/** As the broker's launcher and its image set it. */
const { environment = {} } = programsNamed(["broker"])[0] ?? {};

/** The bundled broker, on the core that is its own. Its files are below the test's folder. */
export async function startMeasuredBroker(
  { programs, cores, folder }: Measured,
  options: BrokerOptions,
): Promise<BrokerProcess> {
  const [cpu] = cores.broker;
  const directory = options.directory ?? join(folder, "broker");
  await mkdir(directory, { recursive: true });
  return startBroker({
    ...options,
    directory,
    environment,
    program: programs.broker,
    readyWithinMs: READY_WITHIN_MS,
    ...(cpu === undefined ? {} : { cpu }),
  });
}

/** The bundled agent, with the flags of Node it is shipped with. It runs where the load does. */
export async function startMeasuredAgent(
  { programs, folder }: Measured,
  options: AgentOptions,
): Promise<AgentProcess> {
  return startAgent({
    directory: join(folder, options.clusterId),
    nodeFlags: programs.agentNodeFlags,
    ...options,
    program: programs.agent,
    readyWithinMs: READY_WITHIN_MS,
  });
}

export function pidOf({ pid }: { readonly pid: number | undefined }): number {
  if (pid === undefined) throw new Error("a program that is measured has ended");
  return pid;
}
