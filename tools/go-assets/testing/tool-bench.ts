import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Assets } from "../assets-tool.ts";

export interface BenchOptions {
  readonly assets: Assets;
  /** What a program that its Go has built says of itself. */
  readonly says: string;
  /** More that is in its modules: text by path. */
  readonly files?: Readonly<Record<string, string>>;
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
  /** SAYS is what built programs say; a build of the package that BREAKS_AT names fails; with HANGS none ends, with KILLS the tool is killed. */
  readonly run: (run?: ToolRun) => Promise<ToolEnd>;
  /** The packages that were built, whether or not that went well. */
  readonly built: () => readonly string[];
  /** They, and in which folder each was. */
  readonly builtIn: () => readonly (readonly [path: string, folder: string])[];
  /** The folder in the cache. */
  readonly kept: () => string;
  readonly isWhole: () => boolean;
  readonly dispose: () => void;
}

/** MISSING takes all modules away, SUM is another checksum. */
const goScript = (replies: string): string => `#!/bin/sh
case "$1 $2" in
  "mod "*)
    if [ -n "$MISSING" ]; then echo '{"Error": "module lookup disabled"}'; exit 1; fi
    case "$4" in
    ${replies}
    esac ;;
  "version "*) if [ -n "$MARKS" ]; then echo "by another" > "$MARKS"; fi ;;
  "list "*) echo a/b; echo c/d ;;
  "build "*)
    while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
    if [ -n "$HANGS" ]; then sleep 600; fi
    echo "$1 $PWD" >> "$BENCH/notes"
    if [ -n "$KILLS" ]; then echo half > "$out"; kill -9 $PPID; exit 1; fi
    case "$1" in *"\${BREAKS_AT:-nothing}") echo "undefined: x" >&2; exit 1 ;; esac
    echo "go: downloading k8s.io/api v0.34.4" >&2
    printf '#!/bin/sh\\necho %s\\n' "$SAYS" > "$out"; chmod +x "$out" ;;
esac
`;

export function toolBench({ assets, says, files = {} }: BenchOptions): ToolBench {
  const { copies, programs } = assets.list;
  const modules = [...copies, ...programs].flatMap(({ module }) => (module === undefined ? [] : [module]));
  const replies = modules.map(
    ({ path, sum }) =>
      `*"${path}@"*) echo "{\\"Dir\\":\\"$BENCH/modules/${path}\\",\\"Sum\\":\\"\${SUM:-${sum}}\\"}" ;;`,
  );
  // In each file that is copied by its name: that name.
  const inModules = [
    ...modules.map(({ path }) => `${path}/go.mod`),
    ...copies.flatMap(({ module, from }) =>
      typeof from === "string" ? [] : from.map((name) => `${module.path}/${name}`),
    ),
  ].map((name) => [`modules/${name}`, `# ${name}\n`] as const);
  const folder = mkdtempSync(join(tmpdir(), "tool-bench-"));
  const path: ToolBench["path"] = (...parts) => join(folder, ...parts);
  const write: ToolBench["write"] = (name, text) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
    chmodSync(path(name), 0o755);
  };
  const withGo = {
    "bin/go": goScript(replies.join("\n    ")),
    ...Object.fromEntries(inModules),
    ...files,
  };
  const builtIn: ToolBench["builtIn"] = () =>
    readFileSync(path("notes"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line): [string, string] => [line.split(" ")[0] ?? "", line.split(" ")[1] ?? ""]);
  const kept = (): string => path("cache", readdirSync(path("cache"))[0] ?? "");
  return {
    path,
    write,
    run: ({ args = [], env = {}, hasGo = true } = {}) => {
      if (hasGo) for (const [name, text] of Object.entries(withGo)) write(name, text);
      const PATH = hasGo ? `${path("bin")}:/usr/bin:/bin` : path("nowhere");
      const cache = { [`${assets.name.replace("-", "_").toUpperCase()}_CACHE`]: path("cache") };
      const main = join(import.meta.dirname, "../..", assets.name, "main.ts");
      return runNode([main, ...args], { PATH, BENCH: folder, SAYS: says, ...cache, ...env });
    },
    built: () => builtIn().map(([name]) => name),
    builtIn,
    kept,
    isWhole: () => existsSync(join(kept(), "complete")),
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
