/**
 * `npm run mutants`: plants one bug after the other in a copy of the sources and runs the check that is expected to
 * notice. Prints who caught what; ends with 1 if one survives. `--only <part of a name>` plants some of them, `--quick`
 * those that need neither strace nor PostgreSQL nor a campaign, `--jobs N` at a time, `--record` appends to docs/campaigns.jsonl.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { postgresPrograms, tracerProblem } from "@resource-broker/testkit";
import { campaignProgram } from "../frame/campaign.ts";
import { MUTANTS } from "./all-mutants.ts";
import { copyTree } from "./copy-tree.ts";
import { type Check, type Mutant, nameOf } from "./mutant.ts";
import { runCheck } from "./run-check.ts";

const ROOT = join(import.meta.dirname, "../../..");
const NAME_WIDTH = 62;

interface Verdict {
  readonly mutant: Mutant;
  readonly isCaught: boolean;
  readonly message: string;
  readonly seconds: number;
}

const FLAGS = { only: "", jobs: Math.min(2, availableParallelism()), quick: false };

await campaignProgram("mutants", FLAGS, async ({ only, jobs, quick }) => {
  const startedAt = Date.now();
  const absent = absentPrograms(quick);
  const wanted = MUTANTS.filter(({ name }) => name.includes(only));
  const mutants = wanted.filter(({ caughtBy }) => !absent.has(needOf(caughtBy)));
  const left = wanted.length - mutants.length;
  if (left > 0) console.log(`NOT PLANTED: ${left} bugs, for want of ${[...absent].join(" and ")}`);
  const folder = await mkdtemp(join(tmpdir(), "mutants-"));
  let verdicts: Verdict[];
  try {
    verdicts = await plantAll(mutants, { folder, jobs });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  const planted = verdicts.length;
  const survivors = verdicts.filter(({ isCaught }) => !isCaught);
  const caught = planted - survivors.length;
  console.log(`\n${caught}/${planted} planted bugs caught in ${secondsSince(startedAt)} s`);
  const survived = survivors.map(
    ({ mutant, message }) => `SURVIVED: ${mutant.name} (${mutant.file}) ${message}`,
  );
  const violations = planted === 0 ? ["no planted bug has such a name"] : survived;
  return { campaign: "mutants", figures: { planted, caught }, violations };
});

async function plantAll(
  mutants: readonly Mutant[],
  { folder, jobs }: { readonly folder: string; readonly jobs: number },
): Promise<Verdict[]> {
  const trees = await Promise.all(
    Array.from({ length: jobs }, async (_, job) => {
      const tree = join(folder, `tree-${job}`);
      await copyTree(ROOT, tree);
      return tree;
    }),
  );
  // A check that fails anyway catches nothing.
  const checks = new Map<string, Check>(mutants.map(({ caughtBy }) => [nameOf(caughtBy), caughtBy]));
  await shared([...checks.values()], trees, async (check, tree) => {
    const { hasPassed, message } = await runCheck(check, { tree, env: process.env });
    if (!hasPassed) throw new Error(`${nameOf(check)} fails without a planted bug: ${message}`);
  });
  console.log(`${checks.size} checks pass on the sources as they are\n`);
  const verdicts: Verdict[] = [];
  await shared(mutants, trees, async (mutant, tree) => {
    const verdict = await plant(mutant, tree);
    verdicts.push(verdict);
    console.log(lineOf(verdict));
  });
  return verdicts;
}

async function plant(mutant: Mutant, tree: string): Promise<Verdict> {
  const file = join(tree, mutant.file);
  const plantedAt = Date.now();
  const source = await readFile(file, "utf8");
  if (source.split(mutant.find).length !== 2)
    return { mutant, isCaught: false, message: "does not fit any more: write it anew", seconds: 0 };
  await writeFile(
    file,
    source.replace(mutant.find, () => mutant.replace),
  );
  try {
    const { hasPassed, message } = await runCheck(mutant.caughtBy, { tree, env: process.env });
    return { mutant, isCaught: !hasPassed, message, seconds: secondsSince(plantedAt) };
  } finally {
    await writeFile(file, source);
  }
}

/** Each tree takes the next item as soon as it is free. */
async function shared<T>(
  items: readonly T[],
  trees: readonly string[],
  work: (item: T, tree: string) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    trees.map(async (tree) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item, tree);
    }),
  );
}

function lineOf({ mutant, isCaught, message, seconds }: Verdict): string {
  const verdict = isCaught ? "caught  " : "SURVIVED";
  return `${verdict} ${mutant.name.padEnd(NAME_WIDTH)} ${nameOf(mutant.caughtBy)} (${seconds} s)\n           ${message.slice(0, 150)}`;
}

/** What checks need that is not there: tests would be skipped, and catch nothing. */
function absentPrograms(isQuick: boolean): Set<string> {
  const absent = new Set<string>();
  if (isQuick || !postgresPrograms().isThere) absent.add("postgres");
  if (isQuick || tracerProblem() !== undefined) absent.add("strace");
  if (isQuick) absent.add("time");
  return absent;
}

function needOf(check: Check): string {
  return (check.kind === "simulation" ? undefined : check.needs) ?? "nothing";
}

function secondsSince(moment: number): number {
  return Math.round((Date.now() - moment) / 1000);
}
