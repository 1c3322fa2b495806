import { Fault } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";
import { type Line, line, span } from "../view/line.ts";
import type { Pace } from "./pace.ts";
import type { Stage } from "./stage.ts";
import type { TourStep } from "./step.ts";
import { headingRows, sayingRows, shownColumns, shownRows } from "./telling.ts";

export interface TourOptions {
  readonly steps: readonly TourStep[];
  /** How wide the terminal is. */
  readonly columns: number;
}

export interface TourDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly openStage: () => Promise<OpenStage>;
  readonly pace: Pick<Pace, "read">;
  readonly tell: (rows: readonly Line[]) => void;
}

export interface OpenStage {
  readonly stage: Stage;
  /** Ends everything on it. */
  readonly close: () => Promise<void>;
}

/** The guided story: the same for a person, a recording and a test. */
export function createTour({ steps, columns }: TourOptions, deps: TourDeps) {
  const { clock, pace, tell } = deps;
  let open: OpenStage | undefined;

  const tellSlowly = async (rows: readonly Line[]): Promise<void> => {
    tell(rows);
    await pace.read(rows);
  };

  const playStep = async (step: TourStep, number: number, stage: Stage): Promise<void> => {
    tell(headingRows({ number, of: steps.length, title: step.title }));
    await tellSlowly(sayingRows(step.says));
    const seen = await step.play(stage, shownColumns(columns)).catch((error: unknown) => {
      throw notAsTold(step, error);
    });
    await tellSlowly(shownRows(seen));
  };

  return {
    /** Resolves when everything that was told turned out to be true; rejects with what did not. */
    run: async (): Promise<void> => {
      const beganAt = clock.monotonicMs();
      tell(OPENING);
      open = await deps.openStage();
      for (const [index, step] of steps.entries()) await playStep(step, index + 1, open.stage);
      tell(closing((clock.monotonicMs() - beganAt) / 1000, steps.length));
    },
    /** Ends everything that was started. */
    stop: async (): Promise<void> => {
      await open?.close();
    },
  };
}

function notAsTold({ title }: TourStep, error: unknown): Fault {
  const why = error instanceof Error ? error.message : String(error);
  return new Fault("internal", `the step "${title}" failed: ${why}`, { cause: error });
}

const OPENING: readonly Line[] = [
  line(span("Resource Broker", "title"), ": clusters that lend each other CPU, memory and GPUs."),
  line(),
  line("  A real broker and four real agents start on this machine;"),
  line("  only the clusters are simulated."),
];

function closing(seconds: number, steps: number): Line[] {
  const summary = `Finished: ${steps} steps in ${Math.round(seconds)} s, each checked while it ran.`;
  return [
    line(),
    line(span(summary, "title")),
    line(),
    line("  npm start                           these clusters, live, and commands to try"),
    line("  npm start -- --contexts eu,us,lab   your own clusters, read-only"),
    line(),
  ];
}
