import { describe, expect, test } from "vitest";
import { RULES } from "./testing/sources.ts";

describe("alerts", () => {
  test.each(RULES)(
    "$alert ($labels.severity) says how bad it is, what it means and where to read on",
    (rule) => {
      const { alert, labels, annotations } = rule;
      expect(labels).toEqual({ severity: expect.stringMatching(/^(warning|critical)$/) });
      expect(annotations).toEqual({
        summary: expect.stringMatching(/\.$/),
        description: expect.stringMatching(/\.$/),
        runbook_url: `docs/runbooks/${alert}.md`,
      });
    },
  );

  test("rules of one name differ in how bad it is", () => {
    const kinds = RULES.map(({ alert, labels }) => `${alert} ${labels["severity"]}`);
    expect(new Set(kinds).size).toBe(kinds.length);
  });

  test("buckets have bounds that Prometheus 2 and 3 write alike", () => {
    const bounds = RULES.flatMap(({ expr }) => [...expr.matchAll(/le="([^"]*)"/g)].map(([, bound]) => bound));
    expect(bounds.length).toBeGreaterThan(0);
    for (const bound of bounds) expect(bound).toMatch(/^\d+\.\d+$/);
  });
});
