import { parseSettings } from "@resource-broker/contract";
import { describeFailure, EXIT, type MachineTime } from "@resource-broker/runtime";
import { NO_PAUSES, readingPace } from "./pace.ts";
import { type Recording, recordTo } from "./recording.ts";
import { TOUR_HELP, TOUR_SETTINGS } from "./settings.ts";
import { STORY } from "./story.ts";
import { createTour } from "./tour.ts";

const ENDS = /[qQ\u0003\u0004]/u;
const INTERRUPTED = 130;

/** What the tour needs of its process. */
export interface TourHost {
  readonly input: Pick<NodeJS.ReadStream, "isTTY" | "setRawMode" | "setEncoding" | "on" | "pause">;
  readonly output: { readonly isTTY?: boolean; readonly write: (text: string) => unknown };
  readonly signals: { readonly on: (signal: "SIGTERM" | "SIGINT", listener: () => void) => unknown };
  /** NO_COLOR and its like. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly machine: MachineTime;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Says what went wrong, if anything, and ends the process. */
  readonly end: (code: number, ...problems: readonly string[]) => void;
}

/** `npm start -- --tour`. */
export async function tourCommand(argv: readonly string[], host: TourHost): Promise<void> {
  const reading = parseSettings(TOUR_SETTINGS, { argv, env: {}, envPrefix: "" });
  if (!reading.ok)
    return host.end(EXIT.usage, ...reading.problems, "npm start -- --tour --help shows what there is");
  if (reading.values.help) return void host.output.write(`${TOUR_HELP}\n`);
  await run(reading.values, host);
}

async function run(
  { fast, record }: { readonly fast: boolean; readonly record: string },
  host: TourHost,
): Promise<void> {
  const { input, output, env, machine, randomBytes } = host;
  const recording: Recording | undefined = record === "" ? undefined : recordTo(record, machine);
  const isTold = (output.isTTY === true || recording !== undefined) && !fast;
  const pace = isTold ? readingPace(machine) : NO_PAUSES;
  const hasColours = (output.isTTY === true || recording !== undefined) && (env["NO_COLOR"] ?? "") === "";
  const tour = createTour(
    { looks: { hasColours, hasBlocks: true }, steps: STORY },
    {
      machine,
      randomBytes,
      pace,
      write: (text) => {
        output.write(text);
        recording?.take(text);
      },
    },
  );
  let isEnding = false;
  const end = async (code: number, ...problems: readonly string[]): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    if (input.isTTY) input.setRawMode(false);
    input.pause();
    await tour.stop();
    host.end(code, ...problems);
  };
  const interrupt = (): void => void end(INTERRUPTED);
  host.signals.on("SIGINT", interrupt);
  host.signals.on("SIGTERM", interrupt);
  if (isTold && input.isTTY) {
    input.setRawMode(true);
    input.setEncoding("utf8");
    input.on("data", (typed: string) => (ENDS.test(typed) ? interrupt() : pace.skip()));
  }
  try {
    await tour.run();
    await recording?.save();
    await end(0);
  } catch (error) {
    await end(EXIT.failure, describeFailure(error, []));
  }
}
