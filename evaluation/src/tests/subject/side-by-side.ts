import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../../evaluation-test.ts";

/** The same test of each broker: ours first, then the one that somebody else runs, if there is one. */
export interface SideBySide<Result> {
  readonly ours: Result;
  readonly baseline?: Result;
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
  return { ours, baseline: await measure({ ...(await contextOf("baseline", 1)), baseline }) };
}

export function eachOf<Result>({ ours, baseline }: SideBySide<Result>): Result[] {
  return baseline === undefined ? [ours] : [ours, baseline];
}
