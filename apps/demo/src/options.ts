import { choice, integer, parseSettings, text, toggle, type Values } from "@resource-broker/base";
import { MOST_CLUSTERS } from "./fleet/plan-fleet.ts";

const MOST_NODES = 200;

export const HELP = `Usage: npm start [-- FLAGS]
       npm start -- --tour           a guided tour of about a minute
       npm start -- --contexts A,B   your own clusters, read-only: who could lend what to whom

Runs a broker, simulated clusters and their agents on this machine and shows what happens: decisions with
their reasons, events, and below them what is free and lent now, with a link to the dashboard.
Ctrl-C ends everything.

  --clusters=N    how many clusters, from 2 to ${MOST_CLUSTERS} (default: 4)
  --nodes=N       how many nodes each of them has, at most ${MOST_NODES} (default: a few, as it comes)
  --store=STORE   where the broker keeps its ledger: sqlite, in the demo's folder, or postgres://user@host/database
                  (default: sqlite)
  --interface=I   how agents reach the broker: http, or kubernetes: by objects in the broker's own cluster
                  (default: http)
  --keep=DIR      folder for all files, which stay there; on the same folder the ledger is found again
                  (default: a temporary folder, which is removed at the end)
  --no-dashboard  without the pages for a browser
  --port=N        where the broker listens (default: any free port)
  --json          one JSON object per line instead of text
  --help          this text

Without a terminal (npm start | cat) there is no status line. NO_COLOR=1 turns the colours of the tour off.`;

const SETTINGS = {
  clusters: integer({
    description: "How many clusters.",
    defaultValue: 0,
    minimum: 2,
    maximum: MOST_CLUSTERS,
  }),
  nodes: integer({ description: "Nodes of each.", defaultValue: 0, minimum: 1, maximum: MOST_NODES }),
  store: text({ description: "Where the ledger is.", defaultValue: "sqlite", placeholder: "STORE" }),
  interface: choice({
    description: "How agents reach the broker.",
    defaultValue: "http",
    choices: ["http", "kubernetes"],
  }),
  keep: text({ description: "Folder for all files.", defaultValue: "", placeholder: "DIR" }),
  dir: text({ description: "The old name of --keep.", defaultValue: "", placeholder: "DIR" }),
  port: integer({ description: "Where the broker listens.", defaultValue: 0, minimum: 1, maximum: 65_535 }),
  "no-dashboard": toggle({ description: "Without the pages.", defaultValue: false }),
  tour: toggle({ description: "See modes.ts.", defaultValue: false }),
  contexts: text({ description: "See modes.ts.", defaultValue: "", placeholder: "A,B" }),
  json: toggle({ description: "One JSON object per line.", defaultValue: false }),
  help: toggle({ description: "Print the help.", defaultValue: false }),
};

/** What a person asked for; 0 and "": nothing in particular. */
export type DemoOptions = Omit<Values<typeof SETTINGS>, "dir" | "tour" | "contexts">;

export type OptionsReading =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly problems: readonly string[] };

export function readOptions(argv: readonly string[]): OptionsReading {
  const reading = parseSettings(SETTINGS, { argv, env: {}, envPrefix: "" });
  if (!reading.ok) return reading;
  const { dir, tour: _tour, contexts: _contexts, ...options } = reading.values;
  const problems = [
    ...(dir !== "" && options.keep !== "" ? ["--dir is the old name of --keep: give only --keep"] : []),
    ...(isStore(options.store) ? [] : ["--store: write sqlite, or postgres://user@host:5432/database"]),
  ];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, options: { ...options, keep: options.keep || dir } };
}

/** The broker reads the rest of it; its words are not repeated, since they may hold a password. */
function isStore(store: string): boolean {
  return store === "sqlite" || /^postgres(ql)?:\/\/./.test(store);
}
