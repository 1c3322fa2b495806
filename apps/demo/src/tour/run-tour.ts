import { join } from "node:path";
import { describeFailure, EXIT } from "@resource-broker/runtime";
import { startWorld } from "@resource-broker/testkit";
import { SMALL_FLEET } from "../fleet/plan-fleet.ts";
import type { ModeHost } from "../mode-host.ts";
import { demoCertificates } from "../start/certificates.ts";
import { type Line, lineText, wantsColours } from "../text.ts";
import type { Recording } from "./recording.ts";
import { createTour, type ReadingPauses, type RunningEnvironment } from "./tour.ts";
import { tourEnvironment } from "./tour-environment.ts";
import type { TourStep } from "./step.ts";
import { CAPACITY_STEPS, REQUEST_STEPS } from "./steps/request-steps.ts";
import { QUEUE_STEPS } from "./steps/queue-steps.ts";
import { FAILURE_STEPS, REFUSAL_STEPS } from "./steps/refusal-steps.ts";

/** The whole story, in order: later steps rely on what earlier ones did. */
export const TOUR_STEPS: readonly TourStep[] = [
  ...REQUEST_STEPS,
  ...CAPACITY_STEPS,
  ...REFUSAL_STEPS,
  ...QUEUE_STEPS,
  ...FAILURE_STEPS,
];

const POLICY_FILE = join(import.meta.dirname, "policy.yaml");
/** The policy calls a cluster stale after half a minute. */
const ADVERTISED_OFTEN = "--advertisement-requeue-interval=5s";
const INTERRUPTED = 130;
/** q, Ctrl-C, Ctrl-D. */
const END_KEYS = ["q", "Q", "\u0003", "\u0004"];

interface RunTourOptions {
  readonly recording: Recording | undefined;
  readonly pauses: ReadingPauses;
}

/** Runs the whole tour and ends the process with its result. */
export async function runTour(host: ModeHost, { recording, pauses }: RunTourOptions): Promise<void> {
  const { stdout, env } = host.hostProcess;
  const textOf = (rows: readonly Line[], hasColours: boolean): string =>
    rows.map((row) => `${lineText(row, hasColours)}\n`).join("");
  const tour = createTour(TOUR_STEPS, {
    clock: host.clock,
    startEnvironment: () => startEnvironment(host),
    pauses,
    print: (rows) => {
      stdout.write(textOf(rows, wantsColours(stdout, env)));
      recording?.write(textOf(rows, true));
    },
  });
  const end = endOnce(host, tour.stop);
  listen(host, { interrupt: () => void end(INTERRUPTED), skip: pauses.skip });
  try {
    await tour.run();
    await recording?.save();
    await end(0);
  } catch (error) {
    await end(EXIT.failure, describeFailure(error, []));
  }
}

interface KeyHandlers {
  readonly interrupt: () => void;
  readonly skip: () => void;
}

function listen({ hostProcess }: ModeHost, { interrupt, skip }: KeyHandlers): void {
  const { stdin, stdout } = hostProcess;
  hostProcess.on("SIGINT", interrupt);
  hostProcess.on("SIGTERM", interrupt);
  if (!stdin.isTTY || !stdout.isTTY) return;
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.on("data", (typed: string) => (END_KEYS.some((key) => typed.includes(key)) ? interrupt() : skip()));
}

/** Only the first end counts: errors of an interrupted step during shutdown are ignored. */
function endOnce({ hostProcess: { stdin }, end }: ModeHost, stop: () => Promise<void>) {
  let isEnding = false;
  return async (code: number, ...problems: readonly string[]): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
    await stop();
    end(code, ...problems);
  };
}

/** The small fleet on this machine: a real broker, real agents, simulated clusters. */
async function startEnvironment({ clock, randomBytes }: ModeHost): Promise<RunningEnvironment> {
  const certificates = demoCertificates({ now: clock.wallMs, randomBytes });
  const world = await startWorld({
    clusters: SMALL_FLEET.map((plan) => ({ ...plan, flags: [...(plan.flags ?? []), ADVERTISED_OFTEN] })),
    certificates,
    brokerFlags: ["--policy", POLICY_FILE],
  });
  return { environment: tourEnvironment(world, clock), close: world.dispose };
}
