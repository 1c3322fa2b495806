import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

interface BenchOptions {
  /** The tool: its main.ts. */
  readonly main: string;
  /** Stands in for Go: a shell script that appends a line to the file NOTES for everything it builds. */
  readonly fakeGo: string;
  /** More that is there with Go: text by path inside the bench's folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env: (folder: string) => Readonly<Record<string, string>>;
}

interface ToolRun {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly hasGo?: boolean;
}

interface ToolEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool as people do, but in a folder of its own and with a Go that builds nothing. */
export interface ToolBench {
  readonly path: (...parts: readonly string[]) => string;
  /** Writes a file that can be run. */
  readonly write: (path: string, text: string) => void;
  readonly run: (run?: ToolRun) => Promise<ToolEnd>;
  /** What the fake Go noted. */
  readonly built: () => readonly string[];
  readonly dispose: () => void;
}

export function toolBench({ main, fakeGo, files = {}, env: always }: BenchOptions): ToolBench {
  const folder = mkdtempSync(join(tmpdir(), "tool-bench-"));
  const path: ToolBench["path"] = (...parts) => join(folder, ...parts);
  const write: ToolBench["write"] = (name, text) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
    chmodSync(path(name), 0o755);
  };
  return {
    path,
    write,
    run: ({ args = [], env = {}, hasGo = true } = {}) => {
      if (hasGo) for (const [name, text] of Object.entries({ "bin/go": fakeGo, ...files })) write(name, text);
      const PATH = hasGo ? `${path("bin")}:/usr/bin:/bin` : path("nowhere");
      return runNode([main, ...args], { PATH, NOTES: path("notes"), ...always(folder), ...env });
    },
    built: () => readFileSync(path("notes"), "utf8").trimEnd().split("\n"),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runNode(args: readonly string[], env: Readonly<Record<string, string>>): Promise<ToolEnd> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
      else reject(new Error("the tool did not end by itself", { cause: error }));
    });
  });
}
