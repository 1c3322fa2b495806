import { describeFailure, EXIT } from "@resource-broker/runtime";
import { startWorld } from "@resource-broker/testkit";
import { SMALL_FLEET } from "../fleet/small-fleet.ts";
import { looksOf } from "../report/choose-report.ts";
import { demoCertificates } from "../start/certificates.ts";
import { wishesIn } from "../terminal/keys.ts";
import type { TourHost } from "./host.ts";
import type { Pace } from "./pace.ts";
import type { Recording } from "./recording.ts";
import { stageIn } from "./stage.ts";
import { STORY } from "./story.ts";
import { COLUMNS, written } from "./telling.ts";
import { createTour, type OpenStage } from "./tour.ts";

const INTERRUPTED = 130;

interface Manner {
  readonly recording: Recording | undefined;
  readonly pace: Pace;
}

/** Runs the whole tour and ends the process with its result. */
export async function guide(host: TourHost, { recording, pace }: Manner): Promise<void> {
  const { output, env, clock } = host;
  const looks = looksOf(env);
  const tour = createTour(
    { steps: STORY, columns: output.columns || COLUMNS },
    {
      clock,
      openStage: () => realStage(host),
      pace,
      tell: (rows) => {
        output.write(written(rows, { ...looks, hasColours: looks.hasColours && output.isTTY }));
        recording?.take(written(rows, { hasColours: true, hasBlocks: true }));
      },
    },
  );
  const end = endingOnce(host, tour.stop);
  listen(host, { interrupt: () => void end(INTERRUPTED), skip: pace.skip });
  try {
    await tour.run();
    await recording?.save();
    await end(0);
  } catch (error) {
    await end(EXIT.failure, describeFailure(error, []));
  }
}

interface Wishes {
  readonly interrupt: () => void;
  readonly skip: () => void;
}

function listen({ input, output, signals }: TourHost, { interrupt, skip }: Wishes): void {
  signals.on("SIGINT", interrupt);
  signals.on("SIGTERM", interrupt);
  if (!input.isTTY || !output.isTTY) return;
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.on("data", (typed: string) => (wishesIn(typed).includes("end") ? interrupt() : skip()));
}

/** Only the first end counts: errors of an interrupted step during shutdown are ignored. */
function endingOnce({ input, end }: TourHost, stop: () => Promise<void>) {
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
async function realStage({ clock, randomBytes }: TourHost): Promise<OpenStage> {
  const certificates = demoCertificates({ now: clock.wallMs, randomBytes });
  const world = await startWorld({ clusters: SMALL_FLEET, certificates });
  return { stage: stageIn(world, clock), close: world.dispose };
}
