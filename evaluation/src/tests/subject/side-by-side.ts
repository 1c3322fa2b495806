import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../../evaluation-test.ts";

/** The same test of each broker: ours first, then the one that somebody else runs, if there is one. */
export interface SideBySide<Result> {
  readonly ours: Result;
  readonly baseline?: Result;
  /** Why the other one could not be measured to the end. That is a result, too: ours are there. */
  readonly baselineFailed?: string;
}

/** One after the other on the same machine, never at the same time. */
export async function sideBySide<Result>(
  context: Context,
  measure: (context: Context) => Promise<Result>,
): Promise<SideBySide<Result>> {
  const { baseline, ...alone } = context;
  const parts = baseline === undefined ? 1 : 2;
  const contextOf = async (name: string, part: number): Promise<Omit<Context, "baseline">> => {
    const folder = join(context.folder, name);
    await mkdir(folder, { recursive: true });
    const progress: Context["progress"] = (share, doing) =>
      context.progress((part + share) / parts, parts === 1 ? doing : `${name}: ${doing}`);
    return { ...alone, folder, progress };
  };
  const ours = await measure(await contextOf("this system", 0));
  if (baseline === undefined) return { ours };
  try {
    return { ours, baseline: await measure({ ...(await contextOf("baseline", 1)), baseline }) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { ours, baselineFailed: error instanceof Error ? error.message : String(error) };
  }
}

const MOST_SHOWN = 10;

/** What the other broker did wrong, for the report: it is no fault of ours, and does not make a run fail. */
export function baselineText<Result>(
  { baseline, baselineFailed }: SideBySide<Result>,
  faults: (result: Result) => readonly string[],
): string[] {
  if (baselineFailed !== undefined)
    return [`**The baseline could not be measured to the end**: ${baselineFailed}`, ""];
  const found = baseline === undefined ? [] : faults(baseline);
  if (found.length === 0) return [];
  const more = found.length > MOST_SHOWN ? [`- and ${found.length - MOST_SHOWN} more`] : [];
  const shown = found.slice(0, MOST_SHOWN).map((fault) => `- ${fault}`);
  return ["What the baseline did not do as it should:", "", ...shown, ...more, ""];
}

export function eachOf<Result>({ ours, baseline }: SideBySide<Result>): Result[] {
  return baseline === undefined ? [ours] : [ours, baseline];
}
