import { type Clock, safeJson, safeLine } from "@resource-broker/base";
import { guardTerminal } from "../terminal/guard.ts";
import { liveTerminal, type TerminalPorts } from "../terminal/live-terminal.ts";
import type { DemoUpdate } from "../updates/update.ts";
import type { TerminalFeatures } from "../view/render.ts";
import { plainLines } from "./plain-lines.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ReporterDeps extends Omit<TerminalPorts, "guard"> {
  readonly isTerminal: boolean;
  readonly env: Environment;
  readonly clock: Clock;
  /** Somebody asked for the end at the keyboard. */
  readonly onEnd: () => void;
}

/** The live view on a terminal that can show it; lines elsewhere. */
export function createReporter({ json }: { readonly json: boolean }, deps: ReporterDeps): Reporter {
  const write = (line: string): void => void deps.output.write(`${line}\n`);
  if (json)
    return {
      start: () => undefined,
      update: (update) => write(safeJson(JSON.stringify(update))),
      stop: () => undefined,
    };
  const isLive = deps.isTerminal && !["", "dumb"].includes(deps.env["TERM"] ?? "");
  return isLive ? liveReporter(deps, write) : plainReporter(write);
}

function plainReporter(write: (line: string) => void): Reporter {
  let linesOf: ReturnType<typeof plainLines> = () => [];
  return {
    start: (names) => {
      linesOf = plainLines(names);
      write(`Resource Broker: a broker and ${names.length} clusters, all on this machine.`);
    },
    update: (update) => linesOf(update).forEach((line) => write(safeLine(line))),
    stop: () => undefined,
  };
}

function liveReporter(deps: ReporterDeps, write: (line: string) => void): Reporter {
  const { clock, onEnd } = deps;
  let live: ReturnType<typeof liveTerminal> | undefined;
  return {
    start: (names) => {
      live = liveTerminal(
        { ...deps, guard: guardTerminal },
        { names, features: terminalFeatures(deps.env), clock, onEnd },
      );
      live.start();
    },
    update: (update) => {
      if (update.kind !== "ended") return live?.update(update);
      live?.stop();
      write("Everything has ended.");
    },
    stop: () => live?.stop(),
  };
}

/** https://no-color.org; and what the locale says the terminal can draw. */
export function terminalFeatures(env: Environment): TerminalFeatures {
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find(
    (value) => value !== undefined && value !== "",
  );
  return { hasColours: (env["NO_COLOR"] ?? "") === "", hasBlocks: /utf-?8/iu.test(locale ?? "") };
}

/** Whoever shows a person, a file or a program what happens. */
export interface Reporter {
  /** Before anything else, with the clusters that will come. */
  readonly start: (names: readonly string[]) => void;
  readonly update: (news: DemoUpdate) => void;
  /** Gives back what it took, such as the terminal; more than once does no harm. */
  readonly stop: () => void;
}
