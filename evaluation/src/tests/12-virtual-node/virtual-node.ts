import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Chart, type Series, series } from "../../charts/chart.ts";
import { type Context, evaluationTest } from "../../evaluation-test.ts";
import { type Distribution, distributionOf, median } from "../../measure/statistics.ts";
import { countText, NOTHING, numberText, tableOf } from "../../report/format.ts";

/** "first": the clusters are not peered before. "next": they are, and another reservation is there. */
const PAIRS = ["first", "next"] as const;
export type Pair = (typeof PAIRS)[number];
/** Through a ResourceRequest, or with liqoctl, typed by somebody who knows every name and never pauses. */
export type Way = "request" | "liqoctl";

/** In ms since the creation of the request was sent, or since liqoctl was started. */
export interface Trial {
  readonly way: Way;
  readonly pair: Pair;
  /** Until the ReservationInstruction is there; absent with liqoctl. */
  readonly instructionMs?: number;
  /** Until the node is Ready with exactly what was asked for. */
  readonly readyMs: number;
}

export interface Failure {
  readonly trial: string;
  readonly problem: string;
}

interface Measured {
  readonly kind: "measured";
  readonly trials: readonly Trial[];
  readonly failures: readonly Failure[];
}

/** A machine without Liqo's programs, or without network namespaces, is no fault. */
export type VirtualNodes = Measured | { readonly kind: "not measured"; readonly reason: string };

const PROGRAM = join(import.meta.dirname, "measure-process.ts");
/** liqoctl refuses API servers on the loopback: the clusters live in a network namespace of their own. */
const IN_NETWORK = join(import.meta.dirname, "../../../../scripts/liqo-network.sh");
/** What the script ends with where no such namespace can be made. */
const NO_NETWORK = 3;
const TRIALS: MeasureCommand["trials"] = { first: 5, next: 10 };

async function run({ programs, folder, cores, signal, progress }: Context): Promise<VirtualNodes> {
  // Two control planes with Liqo are too much for the cores of the load alone; nobody has a core to itself here.
  const all = [...cores.broker, ...cores.load].join(",");
  const command = [...(all === "" ? [] : ["taskset", "-c", all]), IN_NETWORK, process.execPath, PROGRAM];
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe", "ipc"], signal });
  let errorOutput = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errorOutput += text));
  let result: VirtualNodes | undefined;
  child.on("message", (report: Report) => {
    if (report.kind === "progress") progress(report.share, report.doing);
    else result = report.result;
  });
  const order: MeasureCommand = { programs, folder, trials: TRIALS };
  child.send(order, () => undefined);
  await once(child, "close");
  if (result !== undefined) return result;
  if (child.exitCode === NO_NETWORK) return { kind: "not measured", reason: errorOutput.trim() };
  throw new Error(`the clusters with Liqo ended with ${child.exitCode}: ${errorOutput.trim()}`);
}

const PAIR_NAMES: Readonly<Record<Pair, string>> = {
  first: "the first reservation of a pair",
  next: "the next one",
};
const WAYS: readonly { readonly way: Way; readonly label: string; readonly style: Series["style"] }[] = [
  { way: "request", label: "this system: ResourceRequest", style: "ours" },
  { way: "liqoctl", label: "by hand: liqoctl, without a pause", style: "third" },
];

function chosen(trials: readonly Trial[], way: Way, pair: Pair): Trial[] {
  return trials.filter((trial) => trial.way === way && trial.pair === pair);
}

function readyStatistics(trials: readonly Trial[], way: Way, pair: Pair): Distribution | undefined {
  return distributionOf(chosen(trials, way, pair).map(({ readyMs }) => readyMs));
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? NOTHING : numberText(ms / 1000);
}

function chartOf(trials: readonly Trial[]): Chart {
  return {
    name: "12-virtual-node",
    title: "From the request until the virtual node is Ready",
    subtitle: `medians of ${countText(trials.length)} trials; real API servers, Liqo's own controllers, liqoctl; nodes played by kwok, no network fabric`,
    kind: "bars",
    x: { label: "", scale: "names" },
    y: { label: "time", unit: "s", scale: "linear" },
    series: WAYS.map(({ way, label, style }) => {
      const points = PAIRS.map((pair) => pointOf(pair, readyStatistics(trials, way, pair)));
      return series(label, style, points);
    }),
    notes: ["lines: fastest and slowest trial"],
  };
}

function pointOf(pair: Pair, statistics: Distribution | undefined): Series["points"][number] {
  const x = PAIR_NAMES[pair];
  if (statistics === undefined) return { x };
  const { median: middle, least, most } = statistics;
  return { x, y: middle / 1000, low: least / 1000, high: most / 1000 };
}

export const virtualNodeTest = evaluationTest<VirtualNodes>({
  id: "12",
  title: "From a request to a Ready virtual node, with the real Liqo",
  method: [
    "Two real control planes (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) with Liqo 1.2.0 as `liqoctl install` installs it, its controllers and",
    "virtual kubelets as processes, nodes played by kwok, Liqo's network switched off; broker and agents as shipped, with the shipped rights. A trial creates a `ResourceRequest`",
    "(1 CPU, 1Gi) and looks every 15 ms until the `ReservationInstruction` is there and until the virtual node is Ready with exactly these amounts. First of a pair: the",
    "clusters are not peered, and all of Liqo's objects of an earlier trial are gone. Next: another reservation of the same pair is there. By hand, afterwards, without",
    "agents: `liqoctl peer` with the same amounts for the first, `liqoctl create resourceslice` for the next, from the start of liqoctl. All of it shares every core of the machine;",
    "one trial of each way is made before those that count.",
  ].join("\n"),
  expectedSeconds: { smoke: 0, quick: 0, full: 600 },
  run,
  report: (result) => {
    if (result.kind === "not measured") return { text: [`**Not measured**: ${result.reason}`] };
    const { trials, failures } = result;
    const medians = (way: Way): string =>
      PAIRS.map((pair) => seconds(readyStatistics(trials, way, pair)?.median)).join(" / ");
    const rows = PAIRS.flatMap((pair) =>
      WAYS.map(({ way, label }) => ({
        pair,
        label,
        ready: readyStatistics(trials, way, pair),
        instructionMs: median(chosen(trials, way, pair).flatMap(({ instructionMs }) => instructionMs ?? [])),
      })),
    );
    return {
      faults: [
        ...failures.map(({ trial, problem }) => `${trial}: ${problem}`),
        trials.length === 0 && "no trial came to its end",
      ],
      charts: trials.length === 0 ? [] : [chartOf(trials)],
      summary: [
        {
          metric: "12 request → Ready virtual node, first / next of a pair, median",
          ours: `${medians("request")} s`,
          theirs: NOTHING,
          factor: `${medians("liqoctl")} s with liqoctl by hand`,
        },
      ],
      text: [
        `${countText(trials.length)} trials, ${countText(failures.length)} failed.`,
        tableOf(rows, {
          "": ({ pair }) => PAIR_NAMES[pair],
          way: ({ label }) => label,
          trials: ({ ready }) => ready?.count ?? 0,
          "until the instruction, median": ({ instructionMs }) => [instructionMs, "ms"],
          "until Ready: median": ({ ready }) => `${seconds(ready?.median)} s`,
          fastest: ({ ready }) => `${seconds(ready?.least)} s`,
          slowest: ({ ready }) => `${seconds(ready?.most)} s`,
        }),
        "After the instruction the agent runs `liqoctl peer` for the first one, makes a slice, and looks every 2 s how far Liqo is; liqoctl by hand waits for each step itself. A person also looks up names and amounts, fetches a kubeconfig, and looks whether the other cluster has room: none of that is in the figures. Requests are measured before liqoctl by hand: on a machine whose load changes the two are not alike.",
      ],
    };
  },
});

/** What is told to the process that lives among the clusters. */
export interface MeasureCommand {
  readonly programs: Context["programs"];
  readonly folder: string;
  readonly trials: Readonly<Record<Pair, number>>;
}

/** What it tells. */
export type Report =
  | { readonly kind: "progress"; readonly share: number; readonly doing: string }
  | { readonly kind: "result"; readonly result: VirtualNodes };
