import { type Clock, Fault } from "@resource-broker/base";
import { type Line, line, span } from "../view/line.ts";
import type { ReadingPauses } from "./reading-pauses.ts";
import type { TourStep } from "./step.ts";
import type { TourEnvironment } from "./tour-environment.ts";
import { headingRows, narrationRows, shownColumns, shownRows } from "./tour-text.ts";

export interface TourOptions {
  readonly steps: readonly TourStep[];
  /** How wide the terminal is. */
  readonly columns: number;
}

export interface TourDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly startEnvironment: () => Promise<RunningEnvironment>;
  readonly pauses: Pick<ReadingPauses, "wait">;
  readonly print: (rows: readonly Line[]) => void;
}

export interface RunningEnvironment {
  readonly environment: TourEnvironment;
  /** Ends everything on it. */
  readonly close: () => Promise<void>;
}

/** The guided story: the same for a person, a recording and a test. */
export function createTour({ steps, columns }: TourOptions, deps: TourDeps) {
  const { clock, pauses, print } = deps;
  let environment: RunningEnvironment | undefined;

  const printAndWait = async (rows: readonly Line[]): Promise<void> => {
    print(rows);
    await pauses.wait(rows);
  };

  const runStep = async (step: TourStep, number: number, stage: TourEnvironment): Promise<void> => {
    print(headingRows({ number, of: steps.length, title: step.title }));
    await printAndWait(narrationRows(step.narration));
    const seen = await step.run(stage, shownColumns(columns)).catch((error: unknown) => {
      throw stepFailure(step, error);
    });
    await printAndWait(shownRows(seen));
  };

  return {
    /** Resolves when every step was checked with success; rejects with the first failed check. */
    run: async (): Promise<void> => {
      const beganAt = clock.monotonicMs();
      print(OPENING);
      environment = await deps.startEnvironment();
      for (const [index, step] of steps.entries()) await runStep(step, index + 1, environment.environment);
      print(closing((clock.monotonicMs() - beganAt) / 1000, steps.length));
    },
    /** Ends everything that was started. */
    stop: async (): Promise<void> => {
      await environment?.close();
    },
  };
}

function stepFailure({ title }: TourStep, error: unknown): Fault {
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
