import { tmpdir } from "node:os";
import { resolve } from "node:path";
import type { MachineTime } from "@resource-broker/runtime";
import { planFleet } from "./fleet/plan-fleet.ts";
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
      if (options.port !== 0) await checkPort(options.port);
      if (options.keep !== "") kept = await keepFolder(options.keep, options);
      await checkSpace(kept?.folder ?? tmpdir());
      const fleet = planFleet(kept?.order ?? newOrder(options));
      report.start(fleet.plans.map(({ name }) => name));
      // Only now: there is something to see while the rest is read, which is much.
      const { startFleet } = await import("./start/start-fleet.ts");
      running = await startFleet(
        { fleet, startedAt, ...placeOf(options), ...(kept === undefined ? {} : { folder: kept.folder }) },
        { ...deps, tell: report.tell },
      );
    } catch (error) {
      kept?.release();
      report.stop();
      throw describeStart(error, options.keep === "" ? tmpdir() : resolve(options.keep));
    }
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

function placeOf({ store, port, interface: way }: DemoOptions) {
  return { store, hasHub: way === "kubernetes", ...(port === 0 ? {} : { port }) };
}
