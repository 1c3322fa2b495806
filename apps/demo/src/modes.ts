import type { ModeHost } from "./mode-host.ts";

/** What else `npm start` does than running a demo: each has flags of its own, and is loaded only when asked for. */
const MODES: Readonly<Record<string, (argv: readonly string[], host: ModeHost) => Promise<void>>> = {
  tour: async (argv, host) => (await import("./tour/command.ts")).tourCommand(argv, host),
  contexts: async (argv, host) => (await import("./contexts/command.ts")).contextsCommand(argv, host),
};

/** Undefined: the demo is meant. */
export function otherMode(argv: readonly string[]): ((host: ModeHost) => Promise<void>) | undefined {
  const wanted = Object.entries(MODES).find(([name]) => argv.some((word) => isFlag(word, name)));
  if (wanted === undefined) return undefined;
  const [, run] = wanted;
  return (host) => run(argv, host);
}

/** One dash does as well, as everywhere. */
function isFlag(word: string, name: string): boolean {
  return [`--${name}`, `-${name}`].some((flag) => word === flag || word.startsWith(`${flag}=`));
}
