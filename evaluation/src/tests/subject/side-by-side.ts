import {
  type Context,
  type EvaluationTest,
  evaluationTest,
  type Line,
  said,
  type TestDefinition,
  type TestReport,
} from "../../evaluation-test.ts";
import { inScope, partOf } from "../../measure/scope.ts";

/** The same test of each broker: ours first, then the one that somebody else runs, if there is one. */
export interface SideBySide<Result> {
  readonly ours: Result;
  readonly baseline?: Result;
  /** Why the other one could not be measured to the end. That is a result, too: ours are there. */
  readonly baselineFailed?: string;
}

/** A test that needs nothing of a broker but its API, so that another one can be measured, too. */
interface ComparedTest<Result> extends Omit<TestDefinition<SideBySide<Result>>, "run" | "report"> {
  /** Of one broker. */
  readonly measure: (context: Context) => Promise<Result>;
  readonly faults: (result: Result) => readonly Line[];
  /** Below the tables stands what the baseline did wrong, then the text. */
  readonly report: (
    result: SideBySide<Result>,
  ) => Omit<TestReport, "faults"> & { readonly tables: readonly string[] };
}

export function comparedTest<Result extends { readonly subject: string }>({
  measure,
  faults,
  report,
  ...about
}: ComparedTest<Result>): EvaluationTest {
  return evaluationTest({
    ...about,
    run: (context) => sideBySide(context, measure),
    report: (result) => {
      const { tables, text, ...shown } = report(result);
      const ours = said(faults(result.ours)).map((fault) => `${result.ours.subject}: ${fault}`);
      return { ...shown, faults: ours, text: [...tables, ...baselineText(result, faults), ...text] };
    },
  });
}

/** One after the other on the same machine, never at the same time. */
async function sideBySide<Result>(
  { baseline, ...context }: Context,
  measure: (context: Context) => Promise<Result>,
): Promise<SideBySide<Result>> {
  if (baseline === undefined) return { ours: await measure(context) };
  const side = async (name: string, from: number): Promise<Context> => {
    const progress: Context["progress"] = (share, doing) => context.progress(share, `${name}: ${doing}`);
    return partOf({ ...context, progress }, { name, from, to: from + 0.5 });
  };
  const ours = await inScope(await side("this system", 0), measure);
  try {
    const other = await inScope({ ...(await side("baseline", 0.5)), baseline }, measure);
    return { ours, baseline: other };
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { ours, baselineFailed: error instanceof Error ? error.message : String(error) };
  }
}

const MOST_SHOWN = 10;

/** What the other broker did wrong, for the report: it is no fault of ours, and does not make a run fail. */
export function baselineText<Result>(
  { baseline, baselineFailed }: SideBySide<Result>,
  faults: (result: Result) => readonly Line[],
): string[] {
  if (baselineFailed !== undefined)
    return [`**The baseline could not be measured to the end**: ${baselineFailed}`];
  const found = baseline === undefined ? [] : said(faults(baseline));
  if (found.length === 0) return [];
  const shown = found.slice(0, MOST_SHOWN);
  const more = found.length > MOST_SHOWN ? [`and ${found.length - MOST_SHOWN} more`] : [];
  const list = [...shown, ...more].map((fault) => `- ${fault}`).join("\n");
  return ["What the baseline did not do as it should:", list];
}

export function eachOf<Result>({ ours, baseline }: SideBySide<Result>): Result[] {
  return baseline === undefined ? [ours] : [ours, baseline];
}
