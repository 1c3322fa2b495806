import { tmpdir } from "node:os";
import { resolve } from "node:path";
import type { MachineTime } from "@resource-broker/runtime";
import { type FleetOrder, planFleet } from "./fleet/plan-fleet.ts";
import { type KeptFolder, keepFolder, newOrder } from "./folder/keep-folder.ts";
import type { DemoOptions } from "./options.ts";
import type { Report } from "./report/report.ts";
import { describeStart } from "./start/describe-start.ts";
import { checkPort } from "./start/free-port.ts";
import { checkSpace } from "./start/free-space.ts";
import type { RunningFleet } from "./start/start-fleet.ts";

export interface DemoDeps {
  readonly machine: MachineTime;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where programs are looked for. */
  readonly searchPath: string;
  readonly report: Report;
}

/** A broker and clusters on this machine, and what to type to see them work. */
export function createDemo(options: DemoOptions, deps: DemoDeps) {
  const { report } = deps;
  const startedAt = deps.machine.monotonicMs();
  let kept: KeptFolder | undefined;
  let running: RunningFleet | undefined;

  const start = async (): Promise<void> => {
    try {
      running = await startIn(await placeFor(options));
    } catch (error) {
      kept?.release();
      report.stop();
      throw describeStart(error, options.keep === "" ? tmpdir() : resolve(options.keep));
    }
  };

  /** What is wrong with where it shall run is told before anything starts. */
  const placeFor = async ({ port, keep }: DemoOptions): Promise<FleetOrder> => {
    if (port !== 0) await checkPort(port);
    if (keep !== "") kept = await keepFolder(keep, options);
    await checkSpace(kept?.folder ?? tmpdir());
    return kept?.order ?? newOrder(options);
  };

  const startIn = async (order: FleetOrder): Promise<RunningFleet> => {
    const fleet = planFleet(order);
    report.start(fleet.plans.map(({ name }) => name));
    // Only now: there is something to see while the rest is read, which is much.
    const { startFleet } = await import("./start/start-fleet.ts");
    return startFleet(
      { fleet, startedAt, ...waysOf(options), ...(kept === undefined ? {} : { folder: kept.folder }) },
      { ...deps, tell: report.tell },
    );
  };

  return {
    start,
    stop: async () => {
      report.tell({ kind: "ending" });
      await running?.dispose();
      kept?.release();
      report.tell({ kind: "ended" });
    },
  };
}

function waysOf({ store, port, interface: way }: DemoOptions) {
  return { store, hasHub: way === "kubernetes", ...(port === 0 ? {} : { port }) };
}
