import { parseSettings, text, toggle } from "@resource-broker/base";
import { describeFailure, EXIT } from "@resource-broker/runtime";
import type { ModeHost } from "../mode-host.ts";
import { startRecording } from "./recording.ts";
import { NO_PAUSES, readingPauses } from "./tour.ts";

const TOUR_SETTINGS = {
  tour: toggle({ description: "A guided tour of about a minute.", defaultValue: false }),
  fast: toggle({ description: "No pauses.", defaultValue: false }),
  record: text({ description: "Writes an asciicast of it.", defaultValue: "", placeholder: "FILE" }),
  help: toggle({ description: "Print the help.", defaultValue: false }),
};

const TOUR_HELP = `Usage: npm start -- --tour [--fast] [--record FILE]

A guided tour of about a minute on a real broker and four real agents: a request, its decision,
the instructions on both sides, a refusal and what would change it, a release, and two failures.
Each step checks what it shows; the first failed check ends the tour with exit code 1.
On a terminal any key skips a pause, and q or Ctrl-C ends everything; in a pipe there are no pauses.

  --fast         no pauses
  --record FILE  also writes an asciicast (v2) of it, with pauses for a reader
  --help         this text`;

/** `npm start -- --tour`. */
export async function tourCommand(argv: readonly string[], host: ModeHost): Promise<void> {
  const { stdout } = host.hostProcess;
  const reading = parseSettings(TOUR_SETTINGS, { argv, env: {}, envPrefix: "" });
  if (!reading.ok) return host.end(EXIT.usage, ...reading.problems, "all flags: npm start -- --tour --help");
  if (reading.values.help) return void stdout.write(`${TOUR_HELP}\n`);
  const { fast, record } = reading.values;
  try {
    const recording = record === "" ? undefined : await startRecording(record, host.clock);
    const isRead = stdout.isTTY || recording !== undefined;
    // Only now: what a whole world needs is more than what a line of help needs.
    const { runTour } = await import("./run-tour.ts");
    await runTour(host, { recording, pauses: isRead && !fast ? readingPauses(host.clock) : NO_PAUSES });
  } catch (error) {
    host.end(EXIT.failure, describeFailure(error, []));
  }
}
