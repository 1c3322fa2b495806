import { type Clock, errorText, Fault } from "@resource-broker/base";
import { type Line, line, span } from "../text.ts";
import type { TourStep } from "./step.ts";
import type { TourEnvironment } from "./tour-environment.ts";

const TEXT_COLUMNS = 76;
const INDENT = "  ";
const MS_PER_LETTER = 14;
const MIN_PAUSE_MS = 700;
const MAX_PAUSE_MS = 4_000;

/** Time for a person to read. */
export interface ReadingPauses {
  /** Resolves when the reader had time to read the text, or presses a key. */
  readonly wait: (rows: readonly Line[]) => Promise<void>;
  /** Somebody has read enough. */
  readonly skip: () => void;
}

/** Nobody reads along: a pipe, a test. */
export const NO_PAUSES: ReadingPauses = { wait: () => Promise.resolve(), skip: () => undefined };

export function readingPauses(clock: Pick<Clock, "after">): ReadingPauses {
  let wake: (() => void) | undefined;
  return {
    wait: (rows) =>
      new Promise((resolve) => {
        const done = (): void => {
          cancel();
          wake = undefined;
          resolve();
        };
        const cancel = clock.after(readingMs(rows), done);
        wake = done;
      }),
    skip: () => wake?.(),
  };
}

function readingMs(rows: readonly Line[]): number {
  const letters = rows.flat().reduce((sum, { text }) => sum + text.trim().length, 0);
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, letters * MS_PER_LETTER));
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
export function createTour(steps: readonly TourStep[], deps: TourDeps) {
  const { clock, pauses, print } = deps;
  let running: RunningEnvironment | undefined;

  const printAndWait = async (rows: readonly Line[]): Promise<void> => {
    print(rows);
    await pauses.wait(rows);
  };

  const runStep = async (step: TourStep, number: number, environment: TourEnvironment): Promise<void> => {
    print([line(), line(span(`${number}/${steps.length}  ${step.title}`, "title")), line()]);
    await printAndWait(wrapped(step.narration).map((text) => line(INDENT, text)));
    const seen = await step.run(environment).catch((error: unknown) => {
      throw stepFailure(step, error);
    });
    await printAndWait([
      line(),
      ...seen.map((row) => (row.length === 0 ? row : line(INDENT, INDENT, ...row))),
    ]);
  };

  return {
    /** Resolves when every step was checked with success; rejects with the first failed check. */
    run: async (): Promise<void> => {
      const beganAt = clock.monotonicMs();
      print(OPENING);
      running = await deps.startEnvironment();
      for (const [index, step] of steps.entries()) await runStep(step, index + 1, running.environment);
      print(closing((clock.monotonicMs() - beganAt) / 1000, steps.length));
    },
    /** Ends everything that was started. */
    stop: async (): Promise<void> => {
      await running?.close();
    },
  };
}

function stepFailure({ title }: TourStep, error: unknown): Fault {
  return new Fault("internal", `the step "${title}" failed: ${errorText(error)}`, { cause: error });
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

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of text.split(" ")) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (longer.length <= TEXT_COLUMNS || current === "") current = longer;
    else {
      lines.push(current);
      current = word;
    }
  }
  return [...lines, current];
}
