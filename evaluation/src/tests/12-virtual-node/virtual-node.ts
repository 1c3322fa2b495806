import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Context, EvaluationTest } from "../../evaluation-test.ts";
import type { MeasureCommand, Report } from "./messages.ts";
import { type VirtualNodes, virtualNodeFaults } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

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

export const virtualNodeTest: EvaluationTest<VirtualNodes> = {
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
  expectedSeconds: (size) => ({ smoke: 0, quick: 0, full: 600 })[size],
  run,
  faults: virtualNodeFaults,
  charts: chartsOf,
  findings: findingsOf,
};
