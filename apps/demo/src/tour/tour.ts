import { Fault } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";
import { startWorld, type World } from "@resource-broker/testkit";
import { SMALL_FLEET } from "../fleet/small-fleet.ts";
import { demoCertificates } from "../start/certificates.ts";
import { type Line, line, span } from "../view/line.ts";
import type { Pace } from "./pace.ts";
import { stageIn } from "./stage.ts";
import type { TourStep } from "./step.ts";
import { headingRows, type Looks, sayingRows, shownRows, written } from "./telling.ts";

export interface TourOptions {
  readonly looks: Looks;
  readonly steps: readonly TourStep[];
}

export interface TourDeps {
  readonly machine: MachineTime;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly pace: Pace;
  readonly write: (text: string) => void;
}

/** The guided story: the same for a person, a recording and a test. */
export function createTour({ looks, steps }: TourOptions, deps: TourDeps) {
  const { machine, pace, write } = deps;
  let world: World | undefined;

  const tell = async (rows: readonly Line[]): Promise<void> => {
    write(written(rows, looks));
    await pace.read(rows);
  };

  const playStep = async (
    each: TourStep,
    number: number,
    stage: ReturnType<typeof stageIn>,
  ): Promise<void> => {
    const said = sayingRows(each.says);
    write(written(headingRows({ number, of: steps.length, title: each.title }), looks));
    await tell(said);
    await tell(shownRows(await claimed(each, stage)));
  };

  return {
    /** Resolves when everything that was told turned out to be true; rejects with what did not. */
    run: async (): Promise<void> => {
      const beganAt = machine.monotonicMs();
      write(written(OPENING, looks));
      world = await startWorld({
        clusters: SMALL_FLEET,
        certificates: demoCertificates({ now: machine.wallMs, randomBytes: deps.randomBytes }),
      });
      const stage = stageIn(world, machine);
      for (const [index, each] of steps.entries()) await playStep(each, index + 1, stage);
      write(written(closing((machine.monotonicMs() - beganAt) / 1000, steps.length), looks));
    },
    /** Ends everything that was started. */
    stop: async (): Promise<void> => {
      await world?.dispose();
    },
  };
}

async function claimed(each: TourStep, stage: ReturnType<typeof stageIn>): Promise<readonly Line[]> {
  try {
    return await each.play(stage);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("internal", `the step "${each.title}" did not go as told: ${why}`, { cause: error });
  }
}

const OPENING: readonly Line[] = [
  line(span("Resource Broker", "title"), ": clusters that lend each other CPU, memory and GPUs."),
  line(),
  line("  A real broker and four real agents start on this machine; only the clusters are simulated."),
];

function closing(seconds: number, steps: number): Line[] {
  return [
    line(),
    line(
      span(
        `That was it: ${steps} steps in ${Math.round(seconds)} s, each one checked while it ran.`,
        "title",
      ),
    ),
    line(),
    line("  npm start                           the same clusters, live, and five commands to try"),
    line("  npm start -- --contexts eu,us,lab   your own clusters, read-only: who could lend what to whom"),
    line(),
  ];
}
