import { expect, test } from "vitest";
import { metricsIn, metricsPage, samplesOf } from "./scrape.ts";

const SCRAPE = `# HELP up_total Ups.
# TYPE up_total counter
up_total{way="a",side="left"} 2
up_total{way="b, c",side="left"} 3.5

# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1"} 1
wait_seconds_bucket{le="+Inf"} 2
wait_seconds_sum 7
wait_seconds_count 2
# HELP empty Nothing yet.
# TYPE empty gauge
`;

test("a scrape is read metric by metric, with or without empty lines between them", () => {
  expect(metricsIn(SCRAPE)).toEqual([
    { name: "up_total", type: "counter", help: "Ups.", labels: ["way", "side"] },
    { name: "wait_seconds", type: "histogram", help: "Waits.", labels: [] },
    { name: "empty", type: "gauge", help: "Nothing yet.", labels: [] },
  ]);
});

test("the samples of one metric are told by their labels", () => {
  expect(samplesOf(SCRAPE, "up_total")).toEqual({
    '{way="a",side="left"}': 2,
    '{way="b, c",side="left"}': 3.5,
  });
  expect(samplesOf(SCRAPE, "wait_seconds_sum")).toEqual({ "": 7 });
  expect(samplesOf(SCRAPE, "up")).toEqual({});
});

test("the page of the reference has one row for each metric, by name", () => {
  expect(metricsPage(SCRAPE, ["# Metrics"])).toBe(`# Metrics

| Name | Type | Labels | Meaning |
|---|---|---|---|
| \`empty\` | gauge |  | Nothing yet. |
| \`up_total\` | counter | \`way\`, \`side\` | Ups. |
| \`wait_seconds\` | histogram |  | Waits. |
`);
});
