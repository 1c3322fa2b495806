import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Flag, helpText, SWITCHES } from "./help-text.ts";
import { type CampaignRecord, summaryOf } from "./summary.ts";

const DOCS = join(import.meta.dirname, "../../../docs");
const RECORDS = join(DOCS, "campaigns.jsonl");
const REPORT = join(DOCS, "reliability.md");
const TABLE = /(<!-- campaigns -->\n)[^]*?(<!-- end of campaigns -->)/;
const SHOWN_VIOLATIONS = 20;
const USAGE = 2;
const INTERRUPTED = 130;

type Given<T> = {
  readonly [K in keyof T]: T[K] extends number ? number : T[K] extends boolean ? boolean : string;
};

/** What a campaign did and found. */
export interface CampaignResult {
  /** Its name in docs/campaigns.jsonl. */
  readonly campaign: string;
  /** Numbers to add up, and what is needed to run it again: one line of docs/campaigns.jsonl. */
  readonly figures: Readonly<Record<string, unknown>>;
  /** Promises that were not kept. */
  readonly violations: readonly string[];
  /** Flags that repeat exactly what failed. Absent: those that were given. */
  readonly repeat?: Readonly<Record<string, Flag>>;
}

/** `seed` of a campaign whose choices differ from run to run. */
export const ANY_SEED = Date.now() % 1_000_000_000;

/**
 * The frame of every campaign: reads its flags (a number must be above zero), runs it, prints violations and how to repeat
 * them, appends a line to docs/campaigns.jsonl with `--record`, and ends with 1 if a promise was broken. `--help` prints
 * the comment at the top of the program, and the flags.
 */
export async function campaignProgram<const T extends Readonly<Record<string, Flag>>>(
  script: string,
  defaults: T,
  run: (flags: Given<T>) => Promise<CampaignResult>,
): Promise<never> {
  const { flags, isRecorded, isHelp } = readFlags(defaults);
  if (isHelp) {
    console.log(helpText(await readFile(process.argv[1] ?? "", "utf8"), defaults));
    return process.exit(0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(INTERRUPTED));
  const startedAt = Date.now();
  const { campaign, figures, violations, repeat = flags } = await run(flags);
  for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.error(`VIOLATION: ${violation}`);
  if (violations.length > 0)
    console.error(`Repeat it with: npm run ${script} -- ${textOf({ ...flags, ...repeat }, defaults)}`);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  if (isRecorded) {
    const at = new Date(startedAt).toISOString();
    const head = { campaign, at, seconds, node: process.version };
    await record({ ...head, seed: 1, ...figures, violations: violations.length });
  }
  return process.exit(violations.length === 0 ? 0 : 1);
}

function readFlags<T extends Readonly<Record<string, Flag>>>(defaults: T) {
  const options = Object.entries({ ...defaults, ...SWITCHES }).map(
    ([name, value]) => [name, { type: typeof value === "boolean" ? "boolean" : "string" }] as const,
  );
  try {
    const { values } = parseArgs({ options: Object.fromEntries(options) });
    const given = Object.entries(defaults).map(([name, value]) => {
      const text = values[name] ?? value;
      const number = Number(text);
      if (typeof value === "number" && !(number > 0)) throw new Error(`--${name} must be a number above 0`);
      return [name, typeof value === "number" ? number : text] as const;
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each has the type of its default
    const flags = Object.fromEntries(given) as Given<T>;
    return { flags, isRecorded: values["record"] === true, isHelp: values["help"] === true };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return process.exit(USAGE);
  }
}

/** Flags as they are typed, without those that are as always. */
function textOf(flags: Readonly<Record<string, Flag>>, defaults: Readonly<Record<string, Flag>>): string {
  return Object.entries(flags)
    .filter(([name, value]) => name === "seed" || value !== defaults[name])
    .map(([name, value]) => (value === true ? `--${name}` : `--${name} ${value}`))
    .join(" ");
}

/** Counts the table of docs/reliability.md anew. */
async function record(line: CampaignRecord): Promise<void> {
  await appendFile(RECORDS, `${JSON.stringify(line)}\n`);
  const lines = (await readFile(RECORDS, "utf8")).trim().split("\n");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of ours: one object on each line
  const table = summaryOf(lines.map((each) => JSON.parse(each) as CampaignRecord));
  const report = await readFile(REPORT, "utf8");
  const counted = report.replace(TABLE, (_, begin: string, end: string) => `${begin}${table}\n${end}`);
  await writeFile(REPORT, counted);
}
