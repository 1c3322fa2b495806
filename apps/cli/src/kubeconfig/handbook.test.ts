import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ISSUE_OPTIONS } from "./options.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const HANDBOOK = await readFile(join(ROOT, "docs/kubernetes-access.md"), "utf8");

describe("docs/kubernetes-access.md", () => {
  test("names only files that there are", () => {
    const files = [...HANDBOOK.matchAll(/deploy\/[a-z/.-]*[a-z]/g)].map(([file]) => file);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test("calls brokerctl with options that there are, and names each of them", () => {
    const lines = HANDBOOK.split("\n").filter((line) => line.includes("brokerctl kubeconfig issue"));
    const used = lines.flatMap((line) => [...line.matchAll(/--([a-z-]+)/g)].map(([, name = ""]) => name));
    expect(used.filter((name) => !Object.hasOwn(ISSUE_OPTIONS, name))).toEqual([]);
    const own = ["duration", "long-lived", "out", "server", "certificate-authority", "revoke"];
    expect(own.filter((name) => !HANDBOOK.includes(`--${name}`))).toEqual([]);
  });

  test("quotes what the rules and brokerctl really say", async () => {
    const rules = await readFile(join(ROOT, "deploy/admission/agent-writes.yaml"), "utf8");
    expect(rules).toContain("may ask only for itself: spec.requesterID must be");
    const preflight = await readFile(join(import.meta.dirname, "preflight.ts"), "utf8");
    expect(preflight).toContain("no admission policy prevents this agent from writing");
  });
});
