/** Counts what `go build -v` reports. */
export interface Progress {
  /** Takes a piece of Go's output; whole lines are counted, and those that are no progress are kept. */
  readonly take: (text: string) => void;
  /** One line for people. */
  readonly line: (elapsedMs: number) => string;
  /** The last lines that were neither a package nor a download: Go's complaints. */
  readonly complaints: () => string;
}

const KEPT_LINES = 20;
const DOWNLOAD = /^go: downloading /;
/** `k8s.io/apiserver/pkg/server`, `net/http`: nothing but a path. */
const PACKAGE = /^[\w.~+-]+(?:\/[\w.~+-]+)*$/;

export function buildProgress(program: string, packages: number): Progress {
  let downloaded = 0;
  let compiled = 0;
  let unfinished = "";
  let kept: string[] = [];

  const takeLine = (line: string): void => {
    if (DOWNLOAD.test(line)) downloaded += 1;
    else if (PACKAGE.test(line)) compiled += 1;
    else if (line !== "") kept = [...kept, line].slice(-KEPT_LINES);
  };

  return {
    take: (text) => {
      const lines = `${unfinished}${text}`.split("\n");
      unfinished = lines.pop() ?? "";
      for (const line of lines) takeLine(line);
    },
    line: (elapsedMs) => {
      const downloads = downloaded === 0 ? "" : `, ${downloaded} modules downloaded`;
      return `${program}: ${compiled} of ${packages} packages compiled${downloads}, ${duration(elapsedMs)}`;
    },
    complaints: () => [...kept, unfinished].filter((line) => line !== "").join("\n"),
  };
}

/** `45 s`, `3 min 05 s`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
