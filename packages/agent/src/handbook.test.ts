import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfigMapCost } from "./price/config-map-prices.ts";
import { AGENT_SETTINGS } from "./settings/agent-settings.ts";

const ROOT = join(import.meta.dirname, "../../..");
const HANDBOOK = await readFile(join(ROOT, "docs/agent.md"), "utf8");

/** Flags of other programs that the page calls. */
const FOREIGN = [
  "cacert",
  "broker-interface",
  "confirm",
  "replace",
  "out",
  "verb",
  "resource",
  "resource-name",
];

describe("docs/agent.md", () => {
  test("names only flags that there are", () => {
    const named = [...HANDBOOK.matchAll(/--([a-z][a-z-]*[a-z])/g)].map(([, name = ""]) => name);
    const known = [...Object.keys(AGENT_SETTINGS), ...FOREIGN];
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("shows a ConfigMap that the agent takes", async () => {
    const [block = ""] = blocks().filter((text) => text.includes("kind: ConfigMap"));
    const { data } = parse(block) as { data: Record<string, string> };
    expect(await readConfigMapCost(data, "")).toMatchObject({ ok: true, cost: { currency: "EUR" } });
  });

  test("shows the rights that are shipped", async () => {
    const [block = ""] = blocks().filter((text) => text.includes("kind: ClusterRole"));
    expect(block).toBe(await readFile(join(ROOT, "deploy/rbac/agent.yaml"), "utf8"));
  });

  test("names every file of rights", async () => {
    const files = (await readdir(join(ROOT, "deploy/rbac"))).filter((file) => file.startsWith("agent"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(HANDBOOK).toContain(`apply -f deploy/rbac/${file}`);
    }
  });
});

function blocks(): string[] {
  return [...HANDBOOK.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].map(([, indent = "", text = ""]) =>
    text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}
