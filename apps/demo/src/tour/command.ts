import { parseSettings } from "@resource-broker/contract";
import { EXIT, type MachineTime } from "@resource-broker/runtime";
import { NO_PAUSES, readingPace } from "./pace.ts";
import { recordTo } from "./recording.ts";
import { TOUR_HELP, TOUR_SETTINGS } from "./settings.ts";

/** What the tour needs of its process. */
export interface TourHost {
  readonly input: Pick<NodeJS.ReadStream, "isTTY" | "setRawMode" | "setEncoding" | "on" | "pause">;
  readonly output: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">;
  readonly signals: { readonly on: (signal: "SIGTERM" | "SIGINT", listener: () => void) => unknown };
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
  const { fast, record } = reading.values;
  // Only now: what a whole world needs is more than what a line of help needs.
  const { guide } = await import("./guide.ts");
  const recording = record === "" ? undefined : recordTo(record, host.machine);
  const isRead = host.output.isTTY || recording !== undefined;
  await guide(host, { recording, pace: isRead && !fast ? readingPace(host.machine) : NO_PAUSES });
}
