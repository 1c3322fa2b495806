import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord, parseJson } from "@resource-broker/base";
import { isDirectory, readText } from "../certs/files.ts";
import { CommandError } from "../cli/exit-code.ts";

/** Beside the bundle: the files of the chart by their paths. `scripts/bundle` writes it. */
const PACKED = fileURLToPath(new URL("./agent-chart.json", import.meta.url));
/** In a clone. */
const FOLDER = fileURLToPath(new URL("../../../../deploy/helm/agent", import.meta.url));

/** Lets `work` have the agent's chart of this version, in a folder that only this person can look into. */
export async function withChart<Result>(
  values: object,
  work: (chart: string, valuesFile: string) => Promise<Result>,
  packed = PACKED,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "brokerctl-chart-"));
  try {
    const chart = await chartIn(folder, packed);
    const valuesFile = join(folder, "values.json");
    await writeFile(valuesFile, JSON.stringify(values), { mode: 0o600 });
    return await work(chart, valuesFile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function chartIn(folder: string, packed: string): Promise<string> {
  const text = await readText(packed);
  if (text !== undefined) return unpacked(text, join(folder, "agent"));
  if (await isDirectory(FOLDER)) return FOLDER;
  throw new CommandError(
    "error",
    `the agent's chart is missing: ${packed} belongs beside brokerctl. Copy it there, or install with helm: docs/install.md`,
  );
}

async function unpacked(text: string, into: string): Promise<string> {
  const files = parseJson(text);
  if (!isRecord(files))
    throw new CommandError("error", "agent-chart.json is damaged: install brokerctl again");
  for (const [path, content] of Object.entries(files)) {
    const target = resolve(into, path);
    if (!target.startsWith(into + sep) || typeof content !== "string")
      throw new CommandError("error", "agent-chart.json is damaged: install brokerctl again");
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  return into;
}

/** The version of the chart that is used, for messages. */
export async function chartVersion(chart: string): Promise<string> {
  const text = await readFile(join(chart, "Chart.yaml"), "utf8");
  return /^version: (.+)$/mu.exec(text)?.[1] ?? "unknown";
}
