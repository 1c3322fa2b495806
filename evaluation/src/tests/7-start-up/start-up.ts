import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { advertisementSchema, PATH, validate } from "@resource-broker/contract";
import type { AgentProcess, BrokerProcess } from "@resource-broker/testkit";
import type { Context, EvaluationTest, Size } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { cpuTimeOf } from "../../measure/cpu-time.ts";
import { pidOf, startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { type CliCertificates, cliCertificates } from "./cli-certificates.ts";
import { type StartUp, startedAt, type Trial } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

const TRIALS: Readonly<Record<Size, number>> = { smoke: 2, quick: 8, full: 30 };
const SHAPE = { nodes: 10, pods: 200 };
/** Each look is a request that takes the broker's and the load's time; when it was heard is known to the millisecond all the same. */
const POLL_MS = 25;
/** Nothing can be there so soon. */
const UNDISTURBED_MS = 100;
const WITHIN_MS = 30_000;

const METHOD = `Each trial has a new cluster ID, a new folder and a new agent process; a simulated cluster (10 nodes, 200 pods) and the broker run already, files are in the page cache ("warm"). *Certificate*: \`brokerctl certs issue\` as people run it, from its start to its end. *Process start*: from just before the process is started (with the writing of its certificate folder and kubeconfig, about 2 ms) until it logs "the agent starts". *First advertisement*: from there until the broker accepted it, by the broker's own time of receipt; within it the agent lists nodes and pods, connects and posts. All clocks are the machine's one. CPU time from \`/proc/<pid>/task/*/schedstat\`. 30 trials in a full run.`;

export const startUpTest: EvaluationTest<StartUp> = {
  id: "7",
  title: "Start-up",
  method: METHOD,
  expectedSeconds: (size) => 3 + TRIALS[size],
  run: measure,
  faults: ({ trials }) =>
    trials.flatMap(({ advertisementMs }, index) =>
      advertisementMs === undefined ? [`the broker never heard the agent of trial ${index + 1}`] : [],
    ),
  charts: chartsOf,
  findings: findingsOf,
};

function measure(context: Context): Promise<StartUp> {
  return withCleanup(async (onCleanup) => {
    const certificates = await cliCertificates(context.programs.cli, join(context.folder, "certs"));
    const broker = await startMeasuredBroker(context, { certificates });
    onCleanup(broker.dispose);
    const clusters = startClusters();
    onCleanup(clusters.stop);
    const trials: Trial[] = [];
    const count = TRIALS[context.size];
    for (let number = 0; number < count; number++) {
      context.signal.throwIfAborted();
      context.progress(number / count, `trial ${number + 1} of ${count}`);
      const clusterId = `trial-${number}`;
      const kubeconfig = await clusters.add({ name: clusterId, ...SHAPE });
      trials.push(await tryOnce(context, { broker, certificates, clusterId, kubeconfig }));
      await clusters.remove(clusterId);
    }
    return { trials };
  });
}

interface TrialSetup {
  readonly broker: BrokerProcess;
  readonly certificates: CliCertificates;
  readonly clusterId: string;
  readonly kubeconfig: string;
}

async function tryOnce(context: Context, setup: TrialSetup): Promise<Trial> {
  const certificateMs = await setup.certificates.issue(setup.clusterId);
  const beganAt = Date.now();
  const agent = await startMeasuredAgent(context, { ...setup, waits: false });
  try {
    const receivedAt = await untilReceived(setup);
    const loggedAt = startedAt(await agent.logLines());
    if (loggedAt === undefined) throw new Error(await lastLogLines(agent));
    const advertisement = receivedAt === undefined ? {} : { advertisementMs: receivedAt - loggedAt };
    const cpuMs = cpuTimeOf(pidOf(agent)).exactMs;
    return { certificateMs, processMs: loggedAt - beganAt, cpuMs, ...advertisement };
  } finally {
    await agent.dispose();
  }
}

/** When the broker heard the cluster for the first time, by its own clock. */
async function untilReceived({ broker, clusterId }: TrialSetup): Promise<number | undefined> {
  const deadline = performance.now() + WITHIN_MS;
  await sleep(UNDISTURBED_MS);
  while (performance.now() < deadline) {
    const { body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
    const reading = validate(advertisementSchema, body);
    if (reading.ok && reading.value.standing !== undefined)
      return Date.parse(reading.value.standing.receivedAt);
    await sleep(POLL_MS);
  }
  return undefined;
}

async function lastLogLines(agent: AgentProcess): Promise<string> {
  return `the agent has not said that it starts: ${(await agent.logLines()).slice(-3).join(" ")}`;
}
