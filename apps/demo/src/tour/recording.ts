import { writeFile } from "node:fs/promises";
import type { Clock } from "@resource-broker/base";

/** The size of the terminal that plays it. */
const COLUMNS = 100;
const ROWS = 32;

/** What was written and when, in the format of asciinema (asciicast v2). */
export interface Recording {
  readonly write: (text: string) => void;
  readonly save: () => Promise<void>;
}

/** Creates the file at once, so that a write error is reported before the tour. */
export async function startRecording(file: string, clock: Clock): Promise<Recording> {
  const startedAt = clock.monotonicMs();
  const header = {
    version: 2,
    width: COLUMNS,
    height: ROWS,
    timestamp: Math.floor(clock.wallMs() / 1000),
    title: "Resource Broker: npm start -- --tour",
    env: { TERM: "xterm-256color", SHELL: "/bin/sh" },
  };
  const events: string[] = [];
  const save = (): Promise<void> => writeFile(file, `${[JSON.stringify(header), ...events].join("\n")}\n`);
  await save();
  return {
    write: (text) => {
      const seconds = Number(((clock.monotonicMs() - startedAt) / 1000).toFixed(3));
      // A terminal shows a line feed as a new line only because its driver adds the return.
      events.push(JSON.stringify([seconds, "o", text.replaceAll("\n", "\r\n")]));
    },
    save,
  };
}
