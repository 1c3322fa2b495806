import { safeJson, safeLine } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";
import { guardTerminal } from "../terminal/guard.ts";
import { liveTerminal, type TerminalPorts } from "../terminal/live-terminal.ts";
import type { Looks } from "../view/render.ts";
import { plainLines } from "./plain-lines.ts";
import type { Report } from "./report.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ReportDeps extends Omit<TerminalPorts, "guard"> {
  readonly isTerminal: boolean;
  readonly env: Environment;
  readonly clock: Clock;
  /** Somebody asked for the end at the keyboard. */
  readonly onEnd: () => void;
}

/** The live view on a terminal that can show it; lines elsewhere. */
export function chooseReport({ json }: { readonly json: boolean }, deps: ReportDeps): Report {
  const write = (line: string): void => void deps.output.write(`${line}\n`);
  if (json)
    return {
      start: () => undefined,
      tell: (news) => write(safeJson(JSON.stringify(news))),
      stop: () => undefined,
    };
  const isLive = deps.isTerminal && !["", "dumb"].includes(deps.env["TERM"] ?? "");
  return isLive ? liveReport(deps, write) : plainReport(write);
}

function plainReport(write: (line: string) => void): Report {
  let linesOf: ReturnType<typeof plainLines> = () => [];
  return {
    start: (names) => {
      linesOf = plainLines(names);
      write(`Resource Broker: a broker and ${names.length} clusters, all on this machine.`);
    },
    tell: (news) => linesOf(news).forEach((line) => write(safeLine(line))),
    stop: () => undefined,
  };
}

function liveReport(deps: ReportDeps, write: (line: string) => void): Report {
  const { clock, onEnd } = deps;
  let live: ReturnType<typeof liveTerminal> | undefined;
  return {
    start: (names) => {
      live = liveTerminal(
        { ...deps, guard: guardTerminal },
        { names, looks: looksOf(deps.env), clock, onEnd },
      );
      live.start();
    },
    tell: (news) => {
      if (news.kind !== "ended") return live?.tell(news);
      live?.stop();
      write("Everything has ended.");
    },
    stop: () => live?.stop(),
  };
}

/** https://no-color.org; and what the locale says the terminal can draw. */
export function looksOf(env: Environment): Looks {
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find(
    (value) => value !== undefined && value !== "",
  );
  return { hasColours: (env["NO_COLOR"] ?? "") === "", hasBlocks: /utf-?8/iu.test(locale ?? "") };
}
