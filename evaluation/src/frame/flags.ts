import { parseArgs } from "node:util";
import type { Size } from "../evaluation-test.ts";

export const USAGE = `Measures the real system: broker and agents in processes of their own, mTLS, simulated clusters. Writes raw JSON,
a report in Markdown and charts as SVG and PNG.

Usage: npm run evaluate -- [flags]

  --smoke               the shortest form of everything, 90 s: shows that it works; its results mean nothing
  --quick               5 minutes, fewer and shorter trials (without either: the whole, about an hour)
  --only 4,5            these tests alone; 1 means 1a, 1b and 1c
  --out DIR             where results go (default: evaluation/results/<date>)
  --resume              go on with the newest results, or with those in --out: what is finished is not measured again
  --seed NUMBER         what random choices begin with (default: 1)
  --baseline URL        measure another broker that speaks the same API: tests 1c, 4 and 5
  --baseline-certs DIR  its certificates: a folder with tls.crt, tls.key and ca.crt for each cluster
  --anyway              measure though the machine is too small, or busy with something else
  --print               write no results: print the tables of the tests, to compare two states of the sources
  --summary DIR         measure nothing: print the summary of those results, as it stands in the README
  --help                this text`;

export interface RunFlags {
  /** Absent: not said, so that a resumed run keeps its own. */
  readonly size?: Size;
  readonly only: readonly string[];
  readonly out?: string;
  readonly resumes: boolean;
  readonly seed?: number;
  readonly baseline?: { readonly url: string; readonly certificates: string };
  readonly anyway: boolean;
  readonly prints: boolean;
}

export type Flags =
  | { readonly kind: "run"; readonly flags: RunFlags }
  | { readonly kind: "summary"; readonly folder: string }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string };

const OPTIONS = {
  smoke: { type: "boolean", default: false },
  quick: { type: "boolean", default: false },
  only: { type: "string" },
  out: { type: "string" },
  resume: { type: "boolean", default: false },
  seed: { type: "string" },
  baseline: { type: "string" },
  "baseline-certs": { type: "string" },
  anyway: { type: "boolean", default: false },
  print: { type: "boolean", default: false },
  summary: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export function readFlags(args: readonly string[], testIds: readonly string[]): Flags {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false });
    if (values.help) return { kind: "help" };
    if (values.summary !== undefined) return { kind: "summary", folder: values.summary };
    const flags: RunFlags = {
      only: values.only === undefined ? [] : chosenTests(values.only, testIds),
      resumes: values.resume,
      anyway: values.anyway,
      prints: readPrint(values),
      ...readSize(values),
      ...(values.out === undefined ? {} : { out: values.out }),
      ...(values.seed === undefined ? {} : { seed: readSeed(values.seed) }),
      ...readBaseline(values.baseline, values["baseline-certs"]),
    };
    return { kind: "run", flags };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

function readSize({ smoke, quick }: { smoke: boolean; quick: boolean }): Pick<RunFlags, "size"> {
  if (smoke && quick) throw new RangeError("--smoke and --quick: choose one of them");
  if (smoke) return { size: "smoke" };
  return quick ? { size: "quick" } : {};
}

function readPrint({ print, resume, out }: { print: boolean; resume: boolean; out?: string }): boolean {
  if (print && (resume || out !== undefined))
    throw new RangeError("--print writes no results: it cannot go with --out or --resume");
  return print;
}

function chosenTests(text: string, testIds: readonly string[]): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.flatMap((part) => {
    const chosen = testIds.filter(
      (id) => id === part || (/^\d+$/.test(part) && id.replace(/[a-z]$/, "") === part),
    );
    if (chosen.length === 0)
      throw new RangeError(`--only ${part}: there is no such test; there are ${testIds.join(", ")}`);
    return chosen;
  });
}

function readSeed(text: string): number {
  const seed = Number(text);
  if (text === "" || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32)
    throw new RangeError(`--seed ${text}: must be a whole number from 0 to 4294967295`);
  return seed;
}

function readBaseline(url: string | undefined, certificates: string | undefined): Pick<RunFlags, "baseline"> {
  if (url === undefined && certificates === undefined) return {};
  if (url === undefined || certificates === undefined)
    throw new RangeError("--baseline and --baseline-certs: give both, or neither");
  if (!URL.canParse(url) || !url.startsWith("https://"))
    throw new RangeError(`--baseline ${url}: must be an address such as https://10.0.0.7:8443`);
  return { baseline: { url, certificates } };
}

function wrong(problem: string): Flags {
  return { kind: "wrong", problem };
}
