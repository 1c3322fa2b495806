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
import { readNodeFlags } from "../../../scripts/bundle/bundle.ts";
import { programsNamed } from "../../../scripts/bundle/programs.ts";
import type { Context } from "../evaluation-test.ts";

/** Only a guard: a busy machine is no failure. */
const READY_WITHIN_MS = 120_000;

type BrokerOptions = Omit<BrokerProcessOptions, "program" | "cpu" | "readyWithinMs">;
type AgentOptions = Omit<AgentProcessOptions, "program" | "readyWithinMs">;
type Measured = Pick<Context, "programs" | "cores" | "folder" | "onCleanup">;

/** As the broker's launcher and its image set it. */
const { environment = {} } = programsNamed(["broker"])[0] ?? {};
const { nodeFlags = "" } = programsNamed(["agent"])[0] ?? {};
/** As the agent's launcher and its image call Node. */
const NODE_FLAGS = await readNodeFlags(join(import.meta.dirname, "../../..", nodeFlags));

/** The bundled broker, on the core that is its own, until the context ends. Its files are below the test's folder. */
export async function startMeasuredBroker(
  { programs, cores, folder, onCleanup }: Measured,
  options: BrokerOptions,
): Promise<BrokerProcess> {
  const [cpu] = cores.broker;
  const directory = options.directory ?? join(folder, "broker");
  await mkdir(directory, { recursive: true });
  const broker = await startBroker({
    ...options,
    directory,
    environment,
    program: programs.broker,
    readyWithinMs: READY_WITHIN_MS,
    ...(cpu === undefined ? {} : { cpu }),
  });
  onCleanup(broker.dispose);
  return broker;
}

/** The bundled agent, with the flags of Node it is shipped with. It runs where the load does, until the context ends. */
export async function startMeasuredAgent(
  { programs, folder, onCleanup }: Measured,
  options: AgentOptions,
): Promise<AgentProcess> {
  const agent = await startAgent({
    directory: join(folder, options.clusterId),
    nodeFlags: NODE_FLAGS,
    ...options,
    program: programs.agent,
    readyWithinMs: READY_WITHIN_MS,
  });
  onCleanup(agent.dispose);
  return agent;
}

export function pidOf({ pid }: { readonly pid: number | undefined }): number {
  if (pid === undefined) throw new Error("a program that is measured has ended");
  return pid;
}
