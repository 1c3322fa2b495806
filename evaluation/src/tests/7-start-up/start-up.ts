import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { advertisementSchema, PATH, validate } from "@resource-broker/contract";
import type { AgentProcess, BrokerProcess, PeerCertificates } from "@resource-broker/testkit";
import type { Chart } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings, Size } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/async.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { cpuTimeOf } from "../../measure/sample-process.ts";
import { pidOf, startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { type Distribution, distributionOf } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText, markdownTable, NOTHING, numberText, withUnit } from "../../report/format.ts";
import { OURS, THEIRS } from "../../report/report.ts";

const run = promisify(execFile);

/** Certificates as people without cert-manager make them: with brokerctl, into a folder. */
interface CliCertificates extends PeerCertificates {
  /** Resolves with how long it took, the start of brokerctl included. */
  readonly issue: (id: string) => Promise<number>;
}

const ADMIN = "admin";

async function cliCertificates(program: string, folder: string): Promise<CliCertificates> {
  const brokerctl = async (...args: readonly string[]): Promise<void> => {
    await run(process.execPath, [program, "certs", ...args, "--dir", folder]);
  };
  const read = (...path: readonly string[]) => {
    const file = (name: string): string => readFileSync(join(folder, ...path, name), "utf8");
    return { cert: file("tls.crt"), key: file("tls.key"), ca: file("ca.crt") };
  };
  await brokerctl("init");
  await brokerctl("issue", ADMIN, "--admin");
  return {
    broker: read("broker"),
    cluster: (id) => read("clusters", id),
    admin: () => read("clusters", ADMIN),
    issue: async (id) => {
      const beganAt = performance.now();
      await brokerctl("issue", id);
      return performance.now() - beganAt;
    },
  };
}

const PUBLISHED = PREDECESSOR.startUpMs;
/** The middle of what was published as a range. */
const THEIR_ADVERTISEMENT = (PUBLISHED.firstAdvertisementLeast + PUBLISHED.firstAdvertisementMost) / 2;
const THEIR_WARM = [PUBLISHED.warmLeast, PUBLISHED.warmMost] as const;

function chartsOf(result: StartUp): Chart[] {
  const ours = startUpMetrics(result);
  if (ours === undefined) return [];
  const part = (label: string, own: number, [least, most]: readonly [number, number]) => ({
    label,
    points: [
      { x: OURS, y: own },
      { x: `${THEIRS}: fastest`, y: least },
      { x: `${THEIRS}: slowest`, y: most },
    ],
  });
  const rest = (warm: number, advertisement: number): number => warm - PUBLISHED.start - advertisement;
  const { firstAdvertisementLeast, firstAdvertisementMost, start } = PUBLISHED;
  return [
    {
      name: "7-start-up",
      title: "From nothing to a cluster that the broker knows",
      subtitle: `Warm start; medians of ${result.trials.length} trials here; the predecessor published a range and two of its parts`,
      kind: "stacked-bars",
      x: { label: "", scale: "names" },
      y: { label: "time", unit: "ms", scale: "linear" },
      series: [
        { ...part("process start", ours.process.median, [start, start]), style: "ours" },
        {
          ...part("first advertisement", ours.advertisement.median, [
            firstAdvertisementLeast,
            firstAdvertisementMost,
          ]),
          style: "third",
        },
        {
          ...part("certificate (theirs: all the rest)", ours.certificate.median, [
            rest(PUBLISHED.warmLeast, firstAdvertisementLeast),
            rest(PUBLISHED.warmMost, firstAdvertisementMost),
          ]),
          style: "fourth",
        },
      ],
    },
  ];
}

function findingsOf(result: StartUp): Findings {
  const ours = startUpMetrics(result);
  if (ours === undefined) return { summary: [], text: "No trial came to its end." };
  const theirStart = PUBLISHED.start + THEIR_ADVERTISEMENT;
  const row = (name: string, { median, p95, least, most }: Distribution, theirs: string): string[] => [
    name,
    withUnit(median, "ms"),
    withUnit(p95, "ms"),
    `${numberText(least)}–${numberText(most)} ms`,
    theirs,
  ];
  const theirAdvertisement = `${PUBLISHED.firstAdvertisementLeast}–${PUBLISHED.firstAdvertisementMost} ms`;
  const theirWarm = `${(THEIR_WARM[0] / 1000).toFixed(1)}–${(THEIR_WARM[1] / 1000).toFixed(1)} s`;
  const table = markdownTable(
    ["", "median", "p95", "least–most", THEIRS],
    [
      row("certificate", ours.certificate, NOTHING),
      row("process start", ours.process, `${PUBLISHED.start} ms`),
      row("first advertisement accepted", ours.advertisement, theirAdvertisement),
      row("start → first advertisement", ours.start, `about ${numberText(theirStart)} ms`),
      row("all of it", ours.total, theirWarm),
      row("CPU time of the agent", ours.cpu, NOTHING),
    ],
  );
  const why =
    "The process start is slower: Node takes about 45 ms before it runs the first line of ours, and reads the program; a Go program is machine code. What follows is network and Kubernetes on both sides.";
  return {
    summary: [
      {
        metric: "Agent start-up with certificate, warm",
        ours: withUnit(ours.total.median, "ms"),
        theirs: theirWarm,
        factor: factorText(ours.total.median, THEIR_WARM[0]),
      },
      {
        metric: "Agent start → first advertisement",
        ours: withUnit(ours.start.median, "ms"),
        theirs: `${PUBLISHED.start + PUBLISHED.firstAdvertisementLeast}–${PUBLISHED.start + PUBLISHED.firstAdvertisementMost} ms`,
        factor: factorText(ours.start.median, theirStart),
      },
    ],
    text: `${table}\n\n${why}`,
  };
}

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

/** One agent from nothing to known. */
interface Trial {
  /** brokerctl makes key and certificate. */
  readonly certificateMs: number;
  /** From the start of the process until it says that it starts: Node and the program are loaded, settings are read. */
  readonly processMs: number;
  /** From there until the broker has accepted its first advertisement. Absent: it never did. */
  readonly advertisementMs?: number;
  /** CPU time of the agent when the broker had heard it. */
  readonly cpuMs: number;
}

interface StartUp {
  readonly trials: readonly Trial[];
}

type EndedTrial = Required<Trial>;

/** What is told of a trial that came to its end. `start` has the certificates there, `total` makes them. */
const FIGURES = {
  certificate: ({ certificateMs }: EndedTrial) => certificateMs,
  process: ({ processMs }: EndedTrial) => processMs,
  advertisement: ({ advertisementMs }: EndedTrial) => advertisementMs,
  start: ({ processMs, advertisementMs }: EndedTrial) => processMs + advertisementMs,
  total: (trial: EndedTrial) => trial.certificateMs + trial.processMs + trial.advertisementMs,
  cpu: ({ cpuMs }: EndedTrial) => cpuMs,
};

/** Undefined: no trial came to its end. */
function startUpMetrics({
  trials,
}: StartUp): Readonly<Record<keyof typeof FIGURES, Distribution>> | undefined {
  const ended = trials.filter((trial): trial is EndedTrial => trial.advertisementMs !== undefined);
  const of = (figure: keyof typeof FIGURES): Distribution | undefined =>
    distributionOf(ended.map(FIGURES[figure]));
  const [certificate, process, advertisement] = [of("certificate"), of("process"), of("advertisement")];
  const [start, total, cpu] = [of("start"), of("total"), of("cpu")];
  return certificate && process && advertisement && start && total && cpu
    ? { certificate, process, advertisement, start, total, cpu }
    : undefined;
}

/** The moment at which the agent said that it starts, from its log. Undefined: it has not. */
function startedAt(logLines: readonly string[]): number | undefined {
  const line = logLines.find((each) => each.includes('"the agent starts"'));
  const time = line === undefined ? undefined : /"time":(\d+)/.exec(line)?.[1];
  return time === undefined ? undefined : Number(time);
}
