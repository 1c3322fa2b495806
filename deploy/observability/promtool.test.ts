import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { promtool } from "./testing/promtool.ts";
import { filesIn, pathTo, QUERIES, RULES, read } from "./testing/sources.ts";

const RULE_TESTS = "deploy/observability/tests";
const run = promtool();

describe.skipIf(run === undefined)("promtool", () => {
  test.each(filesIn("deploy/observability/alerts", ".yaml"))("takes the rules of %s", async (name) => {
    expect(await run?.("check", "rules", pathTo(`deploy/observability/alerts/${name}`))).toContain("SUCCESS");
  });

  test.each(filesIn(RULE_TESTS, ".yaml"))("sees the alerts of %s fire, and stay quiet", async (name) => {
    expect(await run?.("test", "rules", pathTo(`${RULE_TESTS}/${name}`))).toContain("SUCCESS");
  });

  test("understands every expression of the dashboards", async () => {
    const rules = QUERIES.map(({ where, expr }, index) => ({
      record: `query_${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
      labels: { where },
    }));
    const folder = await mkdtemp(join(tmpdir(), "queries-"));
    try {
      const file = join(folder, "queries.yaml");
      await writeFile(file, stringify({ groups: [{ name: "queries", rules }] }));
      expect(await run?.("check", "rules", file)).toContain(`${rules.length} rules found`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test("the rule tests see every alert fire with each severity, and stay quiet", () => {
  const text = filesIn(RULE_TESTS, ".yaml")
    .map((name) => read(`${RULE_TESTS}/${name}`))
    .join("\n");
  for (const { alert, labels } of RULES) {
    expect(text).toContain(
      `ALERTS{alertname="${alert}", alertstate="firing", severity="${labels["severity"]}"`,
    );
    const quiet = new RegExp(`alertname="${alert}"[^\\n]*\\n[^\\n]*\\n\\s+exp_samples: \\[\\]`);
    expect(text).toMatch(quiet);
  }
});

test("a missing promtool is an error where it is required", () => {
  expect(() => promtool({ PROMTOOL: "/nowhere/promtool", PROMTOOL_REQUIRED: "1" })).toThrow(
    "apt-get install",
  );
});
