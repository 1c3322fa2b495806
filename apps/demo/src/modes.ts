import type { TourHost } from "./tour/command.ts";

export type ModeHost = TourHost;

/** What else `npm start` does than the live view: each has flags of its own. Loaded only when asked for. */
const MODES: Readonly<Record<string, (argv: readonly string[], host: ModeHost) => Promise<void>>> = {
  tour: async (argv, host) => (await import("./tour/command.ts")).tourCommand(argv, host),
};

/** Undefined: the live view is meant. */
export function otherMode(argv: readonly string[]): ((host: ModeHost) => Promise<void>) | undefined {
  for (const [name, run] of Object.entries(MODES)) {
    if (argv.some((word) => word === `--${name}` || word.startsWith(`--${name}=`)))
      return (host) => run(argv, host);
  }
  return undefined;
}
