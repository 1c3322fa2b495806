import { text, toggle } from "@resource-broker/contract";

export const TOUR_SETTINGS = {
  tour: toggle({ description: "A guided tour of about a minute.", defaultValue: false }),
  fast: toggle({ description: "No pauses.", defaultValue: false }),
  record: text({ description: "Writes an asciicast of it.", defaultValue: "", placeholder: "FILE" }),
  help: toggle({ description: "Print the help.", defaultValue: false }),
};

export const TOUR_HELP = `Usage: npm start -- --tour [--fast] [--record FILE]

A guided tour of about a minute on a real broker and four real agents: a request, its decision,
the instructions on both sides, a refusal and what would change it, a release, and two failures.
Each step checks what it shows; the first failed check ends the tour with exit code 1.
On a terminal any key skips a pause, and q or Ctrl-C ends everything; in a pipe there are no pauses.

  --fast         no pauses
  --record FILE  also writes an asciicast (v2) of it, with pauses for a reader
  --help         this text`;
