import { parseSettings } from "@resource-broker/contract";
import { describeFailure, EXIT } from "@resource-broker/runtime";
import type { TourHost } from "./host.ts";
import { NO_PAUSES, readingPauses } from "./pace.ts";
import { startRecording } from "./recording.ts";
import { TOUR_HELP, TOUR_SETTINGS } from "./settings.ts";

/** `npm start -- --tour`. */
export async function tourCommand(argv: readonly string[], host: TourHost): Promise<void> {
  const reading = parseSettings(TOUR_SETTINGS, { argv, env: {}, envPrefix: "" });
  if (!reading.ok) return host.end(EXIT.usage, ...reading.problems, "all flags: npm start -- --tour --help");
  if (reading.values.help) return void host.output.write(`${TOUR_HELP}\n`);
  const { fast, record } = reading.values;
  try {
    const recording = record === "" ? undefined : await startRecording(record, host.clock);
    const isRead = host.output.isTTY || recording !== undefined;
    // Only now: what a whole world needs is more than what a line of help needs.
    const { runTour } = await import("./guide.ts");
    await runTour(host, { recording, pauses: isRead && !fast ? readingPauses(host.clock) : NO_PAUSES });
  } catch (error) {
    host.end(EXIT.failure, describeFailure(error, []));
  }
}
