import { describeFailure, EXIT } from "@resource-broker/runtime";
import { startWorld } from "@resource-broker/testkit";
import { SMALL_FLEET } from "../fleet/small-fleet.ts";
import { terminalFeatures } from "../report/create-reporter.ts";
import { demoCertificates } from "../start/certificates.ts";
import { keyActionsIn } from "../terminal/keys.ts";
import type { TourHost } from "./host.ts";
import type { ReadingPauses } from "./reading-pauses.ts";
import type { Recording } from "./recording.ts";
import { createTour, type RunningEnvironment } from "./tour.ts";
import { tourEnvironment } from "./tour-environment.ts";
import { TOUR_STEPS } from "./tour-steps.ts";
import { COLUMNS, renderRows } from "./tour-text.ts";

const INTERRUPTED = 130;

interface RunTourOptions {
  readonly recording: Recording | undefined;
  readonly pauses: ReadingPauses;
}

/** Runs the whole tour and ends the process with its result. */
export async function runTour(host: TourHost, { recording, pauses }: RunTourOptions): Promise<void> {
  const { output, env, clock } = host;
  const features = terminalFeatures(env);
  const tour = createTour(
    { steps: TOUR_STEPS, columns: output.columns || COLUMNS },
    {
      clock,
      startEnvironment: () => startEnvironment(host),
      pauses,
      print: (rows) => {
        output.write(renderRows(rows, { ...features, hasColours: features.hasColours && output.isTTY }));
        recording?.write(renderRows(rows, { hasColours: true, hasBlocks: true }));
      },
    },
  );
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
  input.on("data", (typed: string) => (keyActionsIn(typed).includes("end") ? interrupt() : skip()));
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
