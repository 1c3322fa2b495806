import { describeFailure, EXIT } from "@resource-broker/runtime";
import { startWorld } from "@resource-broker/testkit";
import { SMALL_FLEET } from "../fleet/plan-fleet.ts";
import { demoCertificates } from "../start/certificates.ts";
import { type Line, lineText, wantsColours } from "../text.ts";
import type { Recording } from "./recording.ts";
import { createTour, type ReadingPauses, type RunningEnvironment, type TourHost } from "./tour.ts";
import { tourEnvironment } from "./tour-environment.ts";
import type { TourStep } from "./step.ts";
import { CAPACITY_STEPS, REQUEST_STEPS } from "./steps/request-steps.ts";
import { FAILURE_STEPS, REFUSAL_STEPS } from "./steps/refusal-steps.ts";

/** The whole story, in order: later steps rely on what earlier ones did. */
export const TOUR_STEPS: readonly TourStep[] = [
  ...REQUEST_STEPS,
  ...CAPACITY_STEPS,
  ...REFUSAL_STEPS,
  ...FAILURE_STEPS,
];

const INTERRUPTED = 130;
/** q, Ctrl-C, Ctrl-D. */
const END_KEYS = ["q", "Q", "\u0003", "\u0004"];

interface RunTourOptions {
  readonly recording: Recording | undefined;
  readonly pauses: ReadingPauses;
}

/** Runs the whole tour and ends the process with its result. */
export async function runTour(host: TourHost, { recording, pauses }: RunTourOptions): Promise<void> {
  const { output, env, clock } = host;
  const textOf = (rows: readonly Line[], hasColours: boolean): string =>
    rows.map((row) => `${lineText(row, hasColours)}\n`).join("");
  const tour = createTour(TOUR_STEPS, {
    clock,
    startEnvironment: () => startEnvironment(host),
    pauses,
    print: (rows) => {
      output.write(textOf(rows, wantsColours(output, env)));
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

function listen({ input, output, signals }: TourHost, { interrupt, skip }: KeyHandlers): void {
  signals.on("SIGINT", interrupt);
  signals.on("SIGTERM", interrupt);
  if (!input.isTTY || !output.isTTY) return;
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.on("data", (typed: string) => (END_KEYS.some((key) => typed.includes(key)) ? interrupt() : skip()));
}

/** Only the first end counts: errors of an interrupted step during shutdown are ignored. */
function endOnce({ input, end }: TourHost, stop: () => Promise<void>) {
  let isEnding = false;
  return async (code: number, ...problems: readonly string[]): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    if (input.isTTY) input.setRawMode(false);
    input.pause();
    await stop();
    end(code, ...problems);
  };
}

/** The small fleet on this machine: a real broker, real agents, simulated clusters. */
async function startEnvironment({ clock, randomBytes }: TourHost): Promise<RunningEnvironment> {
  const certificates = demoCertificates({ now: clock.wallMs, randomBytes });
  const world = await startWorld({ clusters: SMALL_FLEET, certificates });
  return { environment: tourEnvironment(world, clock), close: world.dispose };
}
