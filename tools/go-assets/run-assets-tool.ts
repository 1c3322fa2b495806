import { isGoMissing } from "./run-go.ts";

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const UNAVAILABLE = 3;
const INTERRUPTED = 130;

/** What is to be brought, and where to. */
export interface Errand {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Looks at the finished folder; throws where it is not what was wanted. */
  readonly check: (folder: string) => Promise<string>;
}

/** A program that sees to it that something which only Go can make is on this machine. */
export interface AssetsTool {
  /** For messages: `kube-assets`. */
  readonly name: string;
  /** The npm script that runs it. */
  readonly script: string;
  /** What is said where it takes Go and there is none. */
  readonly noGo: string;
  /** Where they are or would be; or why they can be neither found nor brought. */
  readonly find: () => { readonly folder: string; readonly isThere: boolean } | { readonly refusal: string };
  readonly bring: (errand: Errand) => Promise<void>;
  /** One line for people on what is in the folder; throws where that is not what was wanted. */
  readonly describe: (folder: string) => Promise<string>;
}

/** Its exit code. */
export async function runAssetsTool(tool: AssetsTool, args: readonly string[]): Promise<number> {
  const say = (line: string): void => console.log(`${tool.name}: ${line}`);
  const fail = (exitCode: number, why: string): number => {
    console.error(`${tool.name}: ${why}`);
    return exitCode;
  };
  if (args.length > 0) return fail(WRONG_USAGE, `unknown option ${args[0]}. Usage: npm run ${tool.script}`);
  const search = tool.find();
  if ("refusal" in search) return fail(UNAVAILABLE, search.refusal);
  const { folder, isThere } = search;
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    if (!isThere) await tool.bring({ folder, signal: stop.signal, say, check: tool.describe });
    say(`${await tool.describe(folder)} are in ${folder}`);
    return DONE;
  } catch (error) {
    if (stop.signal.aborted) return fail(INTERRUPTED, "stopped. The next run goes on from here.");
    if (isGoMissing(error)) return fail(UNAVAILABLE, tool.noGo);
    return fail(FAILED, error instanceof Error ? error.message : String(error));
  }
}
