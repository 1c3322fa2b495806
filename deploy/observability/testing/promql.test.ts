import { expect, test } from "vitest";
import { needsOf } from "./promql.ts";

test("metrics and matchers are found, functions and operators are not", () => {
  expect(
    needsOf(
      'max(up{job=~"a|b", side!="{left}"}) == bool 1 and down offset 5m > -2.5e3 unless absent(gone{})',
    ),
  ).toEqual({
    selectors: [
      {
        metric: "up",
        matchers: [
          { label: "job", operator: "=~", value: "a|b" },
          { label: "side", operator: "!=", value: "{left}" },
        ],
      },
      { metric: "down", matchers: [] },
      { metric: "gone", matchers: [] },
    ],
    labels: [],
    rising: [],
  });
});

test("labels that results are grouped and joined by are found, also after the aggregation", () => {
  const { labels, selectors } = needsOf(
    "sum by (job, reason) (a) / on (job) group_left (zone) max(b) without (le) > ignoring (cluster) group_left c",
  );
  expect(labels).toEqual(["job", "reason", "job", "zone", "le", "cluster"]);
  expect(selectors.map(({ metric }) => metric)).toEqual(["a", "b", "c"]);
});

test("metrics whose rise is asked for are reported", () => {
  expect(needsOf('rate(a_total{x="y"}[$__rate_interval]) + increase(b_total[5m]) + c').rising).toEqual([
    "a_total",
    "b_total",
  ]);
});
