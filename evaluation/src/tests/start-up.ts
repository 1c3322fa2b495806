import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { advertisementSchema, PATH, validate } from "@resource-broker/contract";
import { type BrokerProcess, cpuMsOf, type PeerCertificates } from "@resource-broker/testkit";
import { type Chart, OURS, series, THEIRS } from "../charts/chart.ts";
import { type BySize, type Context, evaluationTest } from "../evaluation-test.ts";
import { lookUntil } from "../measure/async.ts";
import { startClusters } from "../measure/clusters/start-clusters.ts";
import { inScope, inTurn, numbersTo } from "../measure/scope.ts";
import { pidOf, startMeasuredAgent, startMeasuredBroker } from "../measure/start-programs.ts";
import { distributionOf, median } from "../measure/statistics.ts";
import { PREDECESSOR } from "../predecessor.ts";
import { columnsOf, factorText, NOTHING, numberText, tableOf, withUnit } from "../report/format.ts";

const run = promisify(execFile);

/** Certificates as people without cert-manager make them: with brokerctl, into a folder. */
interface CliCertificates extends PeerCertificates {
  /** The file of the admins' authority. */
  readonly adminCa: string;
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
    adminCa: join(folder, "broker", "admin-ca.crt"),
    issue: async (id) => {
      const beganAt = performance.now();
      await brokerctl("issue", id);
      return performance.now() - beganAt;
    },
  };
}

const TRIALS: BySize<number> = { smoke: 2, quick: 8, full: 30 };
const SHAPE = { nodes: 10, pods: 200 };
/** Each look is a request that takes the broker's and the load's time; when it was heard is known to the millisecond all the same. */
const LOOKS = { everyMs: 25, withinMs: 30_000 };
/** Nothing can be there so soon. */
const UNDISTURBED_MS = 100;

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

async function measure(context: Context): Promise<{ readonly trials: readonly Trial[] }> {
  const certificates = await cliCertificates(context.programs.cli, join(context.folder, "certs"));
  const flags = [`--admin-ca=${certificates.adminCa}`];
  const broker = await startMeasuredBroker(context, { certificates, flags });
  const addCluster = startClusters(context);
  const count = TRIALS[context.size];
  const trials = await inTurn(context, numbersTo(count), {
    doing: (number) => `trial ${number} of ${count}`,
    task: async (_, index) => {
      const clusterId = `trial-${index}`;
      const kubeconfig = await addCluster({ name: clusterId, ...SHAPE });
      const setup = { broker, certificates, clusterId, kubeconfig };
      return inScope(context, (inner) => tryOnce(inner, setup));
    },
  });
  return { trials };
}

interface TrialSetup {
  readonly broker: BrokerProcess;
  readonly certificates: CliCertificates;
  readonly clusterId: string;
  readonly kubeconfig: string;
}

async function tryOnce(context: Context, setup: TrialSetup): Promise<Trial> {
  const { broker, clusterId } = setup;
  const certificateMs = await setup.certificates.issue(clusterId);
  const beganAt = Date.now();
  const agent = await startMeasuredAgent(context, { ...setup, waits: false });
  await sleep(UNDISTURBED_MS);
  const receivedAt = await lookUntil(LOOKS, async () => {
    const { body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
    const reading = validate(advertisementSchema, body);
    const { standing } = reading.ok ? reading.value : {};
    // By the broker's own clock.
    return standing === undefined ? undefined : Date.parse(standing.receivedAt);
  });
  const logLines = await agent.logLines();
  const loggedAt = startedAt(logLines);
  if (loggedAt === undefined)
    throw new Error(`the agent has not said that it starts: ${logLines.slice(-3).join(" ")}`);
  const advertisement = receivedAt === undefined ? {} : { advertisementMs: receivedAt - loggedAt };
  const cpuMs = cpuMsOf(pidOf(agent));
  return { certificateMs, processMs: loggedAt - beganAt, cpuMs, ...advertisement };
}

/** The moment at which the agent said that it starts, from its log. Undefined: it has not. */
function startedAt(logLines: readonly string[]): number | undefined {
  const line = logLines.find((each) => each.includes('"the agent starts"'));
  const time = line === undefined ? undefined : /"time":(\d+)/.exec(line)?.[1];
  return time === undefined ? undefined : Number(time);
}

const PUBLISHED = PREDECESSOR.startUpMs;
const [LEAST, MOST] = [PUBLISHED.firstAdvertisementLeast, PUBLISHED.firstAdvertisementMost];
const THEIR_WARM = `${(PUBLISHED.warmLeast / 1000).toFixed(1)}–${(PUBLISHED.warmMost / 1000).toFixed(1)} s`;
/** With the middle of what was published as a range. */
const THEIR_START = PUBLISHED.start + (LEAST + MOST) / 2;

interface Part {
  readonly name: string;
  readonly theirs: string;
  readonly of: (trial: Required<Trial>) => number;
}

/** What is told of a trial that came to its end. `start` has the certificates there, `total` makes them. */
const PARTS = {
  certificate: { name: "certificate", theirs: NOTHING, of: ({ certificateMs }) => certificateMs },
  process: { name: "process start", theirs: `${PUBLISHED.start} ms`, of: ({ processMs }) => processMs },
  advertisement: {
    name: "first advertisement accepted",
    theirs: `${LEAST}–${MOST} ms`,
    of: ({ advertisementMs }) => advertisementMs,
  },
  start: {
    name: "start → first advertisement",
    theirs: `about ${numberText(THEIR_START)} ms`,
    of: ({ processMs, advertisementMs }) => processMs + advertisementMs,
  },
  total: {
    name: "all of it",
    theirs: THEIR_WARM,
    of: ({ certificateMs, processMs, advertisementMs }) => certificateMs + processMs + advertisementMs,
  },
  cpu: { name: "CPU time of the agent", theirs: NOTHING, of: ({ cpuMs }) => cpuMs },
} satisfies Record<string, Part>;

type EndedTrials = readonly Required<Trial>[];
const medianOf = (ended: EndedTrials, { of }: Part): number => median(ended.map(of)) ?? 0;

function chartOf(ended: EndedTrials, trials: number): Chart {
  const points = (part: Part, least: number, most: number) => [
    { x: OURS, y: medianOf(ended, part) },
    { x: `${THEIRS}: fastest`, y: least },
    { x: `${THEIRS}: slowest`, y: most },
  ];
  const { start, warmLeast, warmMost } = PUBLISHED;
  const rest = points(PARTS.certificate, warmLeast - start - LEAST, warmMost - start - MOST);
  return {
    name: "7-start-up",
    title: "From nothing to a cluster that the broker knows",
    subtitle: `Warm start; medians of ${trials} trials here; the predecessor published a range and two of its parts`,
    kind: "stacked-bars",
    x: { label: "", scale: "names" },
    y: { label: "time", unit: "ms", scale: "linear" },
    series: [
      series("process start", "ours", points(PARTS.process, start, start)),
      series("first advertisement", "third", points(PARTS.advertisement, LEAST, MOST)),
      series("certificate (theirs: all the rest)", "fourth", rest),
    ],
  };
}

export const startUpTest = evaluationTest({
  id: "7",
  title: "Start-up",
  method: `Each trial has a new cluster ID, a new folder and a new agent process; a simulated cluster (10 nodes, 200 pods) and the broker run already, files are in the page cache ("warm"). *Certificate*: \`brokerctl certs issue\` as people run it, from its start to its end. *Process start*: from just before the process is started (with the writing of its certificate folder and kubeconfig, about 2 ms) until it logs "the agent starts". *First advertisement*: from there until the broker accepted it, by the broker's own time of receipt; within it the agent lists nodes and pods, connects and posts. All clocks are the machine's one. CPU time from \`/proc/<pid>/task/*/schedstat\`. 30 trials in a full run.`,
  expectedSeconds: { smoke: 3 + TRIALS.smoke, quick: 3 + TRIALS.quick, full: 3 + TRIALS.full },
  run: measure,
  report: ({ trials }) => {
    const ended = trials.filter((trial): trial is Required<Trial> => trial.advertisementMs !== undefined);
    const faults = trials.map(
      ({ advertisementMs }, index) =>
        advertisementMs === undefined && `the broker never heard the agent of trial ${index + 1}`,
    );
    if (ended.length === 0) return { faults, text: ["No trial came to its end."] };
    const rows = Object.values(PARTS).flatMap(({ name, theirs, of }: Part) => {
      const distribution = distributionOf(ended.map(of));
      return distribution === undefined ? [] : [{ ...distribution, name, theirs }];
    });
    const [total, start] = [medianOf(ended, PARTS.total), medianOf(ended, PARTS.start)];
    return {
      faults,
      charts: [chartOf(ended, trials.length)],
      summary: [
        {
          metric: "Agent start-up with certificate, warm",
          ours: withUnit(total, "ms"),
          theirs: THEIR_WARM,
          factor: factorText(total, PUBLISHED.warmLeast),
        },
        {
          metric: "Agent start → first advertisement",
          ours: withUnit(start, "ms"),
          theirs: `${PUBLISHED.start + LEAST}–${PUBLISHED.start + MOST} ms`,
          factor: factorText(start, THEIR_START),
        },
      ],
      text: [
        tableOf(rows, {
          "": ({ name }) => name,
          ...columnsOf("ms", "median", "p95"),
          "least–most": ({ least, most }) => `${numberText(least)}–${numberText(most)} ms`,
          [THEIRS]: ({ theirs }) => theirs,
        }),
        "The process start is slower: Node takes about 45 ms before it runs the first line of ours, and reads the program; a Go program is machine code. What follows is network and Kubernetes on both sides.",
      ],
    };
  },
});
