import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { type Clock, formatTime } from "@resource-broker/base";
import { type FleetSize, planFleet } from "./fleet/plan-fleet.ts";
import { type KeptFolder, keepFolder, newFleetSize } from "./folder/keep-folder.ts";
import type { DemoOptions } from "./options.ts";
import type { Reporter } from "./report.ts";
import { buildPages, checkPort, checkSpace, describeStart } from "./start/preconditions.ts";
import type { RunningFleet } from "./start/start-fleet.ts";

export interface DemoDeps {
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where programs are looked for. */
  readonly searchPath: string;
  readonly reporter: Reporter;
}

/** A broker and clusters on this machine, and what to type to see them work. */
export function createDemo(options: DemoOptions, deps: DemoDeps) {
  const { reporter } = deps;
  const startedAt = deps.clock.monotonicMs();
  let kept: KeptFolder | undefined;
  let running: RunningFleet | undefined;

  const start = async (): Promise<void> => {
    try {
      running = await startFleetOf(await prepareFolder(options));
    } catch (error) {
      kept?.release();
      reporter.stop();
      throw describeStart(error, kept?.folder ?? (options.keep === "" ? tmpdir() : resolve(options.keep)));
    }
  };

  /** Problems with the folder and the ports are reported before anything starts. */
  const prepareFolder = async ({ port, keep }: DemoOptions): Promise<FleetSize> => {
    if (port !== 0) await checkPort(port);
    if (keep !== "") kept = await keepFolder(keep, options);
    await checkSpace(kept?.folder ?? tmpdir());
    return kept?.size ?? newFleetSize(options);
  };

  const startFleetOf = async (order: FleetSize): Promise<RunningFleet> => {
    const fleet = planFleet(order);
    reporter.start(fleet.plans.map(({ name }) => name));
    // Loaded late: the first line is shown while the large modules load.
    const { startFleet } = await import("./start/start-fleet.ts");
    const hasDashboard = !options["no-dashboard"] && (await ensurePages());
    return startFleet(
      {
        fleet,
        startedAt,
        hasDashboard,
        ...transportOptions(options),
        ...(kept === undefined ? {} : { folder: kept.folder }),
      },
      { ...deps, onUpdate: reporter.update },
    );
  };

  /** A broker with the dashboard enabled does not start without the pages; then the dashboard is switched off. */
  const ensurePages = async (): Promise<boolean> => {
    const say = (level: "info" | "warn", text: string): void => {
      const at = formatTime(deps.clock.wallMs());
      reporter.update({ kind: "event", event: { at, source: "dashboard", level, text } });
    };
    const problem = await buildPages((text) => say("info", text));
    if (problem !== undefined) say("warn", `is off: ${problem}`);
    return problem === undefined;
  };

  return {
    start,
    stop: async () => {
      reporter.update({ kind: "ending" });
      await running?.dispose();
      kept?.release();
      reporter.update({ kind: "ended" });
    },
  };
}

function transportOptions({ store, port, interface: way }: DemoOptions) {
  return { store, hasHub: way === "kubernetes", ...(port === 0 ? {} : { port }) };
}
