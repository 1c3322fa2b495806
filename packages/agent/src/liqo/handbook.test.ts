import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_SETTINGS } from "../settings/agent-settings.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const HANDBOOK = await readFile(join(ROOT, "docs/liqo.md"), "utf8");
/** Flags of liqoctl that the page shows. */
const FOREIGN = ["set", "consumer-cluster-id", "create-resource-slice", "minify", "flatten", "raw"];
/** Short steps and races: nobody will look these up. */
const PASSING = [
  "Aborted",
  "LookingAgain",
  "NodeReady",
  "NotEstablished",
  "Offloading",
  "OffloadingTerminating",
  "RefusedByServer",
  "SliceChanged",
  "SliceTerminating",
  "Unoffloading",
];

async function reasonsInCode(): Promise<string[]> {
  const folders = ["requester", "relay"].map((name) => join(import.meta.dirname, name));
  const paths = await Promise.all(
    folders.map(async (folder) => (await readdir(folder)).map((file) => join(folder, file))),
  );
  const files = paths.flat().filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const answering = /(?:wait|stalled|step|act|refused)\(\s*"([A-Z]\w+)"|reason(?:: | = )"([A-Z]\w+)"/g;
  const withJob = /, "(Peering|Unpeering)", |, "([A-Z]\w+Leaving)", /g;
  const found = texts.flatMap((text) => [...text.matchAll(answering), ...text.matchAll(withJob)]);
  return [...new Set(found.map(([, called, named]) => called ?? named ?? ""))].sort();
}

describe("docs/liqo.md", () => {
  test("names only flags that there are", () => {
    const named = [...HANDBOOK.matchAll(/--([a-z][a-z-]*[a-z])/g)].map(([, name = ""]) => name);
    const known = [...Object.keys(AGENT_SETTINGS), ...FOREIGN];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("explains every reason that people may meet", async () => {
    const reasons = await reasonsInCode();
    expect(reasons.length).toBeGreaterThan(50);
    const explained = new Set([...HANDBOOK.matchAll(/`([A-Z]\w+)`/g)].map(([, word]) => word));
    expect(reasons.filter((reason) => !explained.has(reason) && !PASSING.includes(reason))).toEqual([]);
  });
});
