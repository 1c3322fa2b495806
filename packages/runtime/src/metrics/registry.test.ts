import { expect, test } from "vitest";
import { createMetricsRegistry } from "./registry.ts";

test("a counter without labels is there before it is first counted", async () => {
  const metrics = createMetricsRegistry();
  const conflicts = metrics.counter({ name: "conflicts_total", help: "Conflicts." });
  expect(await metrics.scrape()).toBe(
    "# HELP conflicts_total Conflicts.\n# TYPE conflicts_total counter\nconflicts_total 0\n",
  );
  conflicts.inc();
  conflicts.inc({}, 2.5);
  expect(await metrics.scrape()).toContain("\nconflicts_total 3.5\n");
});

test("a counter with labels counts each set of them for itself", async () => {
  const metrics = createMetricsRegistry();
  const calls = metrics.counter({ name: "calls_total", help: "Calls.", isLabelled: true });
  expect(await metrics.scrape()).not.toContain("\ncalls_total");
  calls.inc({ route: "/a", status: "200" });
  calls.inc({ route: "/b", status: "200" });
  calls.inc({ route: "/a", status: "200" });
  expect((await metrics.scrape()).split("\n").slice(2)).toEqual([
    'calls_total{route="/a",status="200"} 2',
    'calls_total{route="/b",status="200"} 1',
    "",
  ]);
});

test("a histogram counts values up to each bound, their sum and their number", async () => {
  const metrics = createMetricsRegistry();
  const waits = metrics.histogram({ name: "wait_seconds", help: "Waiting.", buckets: [0.1, 1, 10] });
  for (const value of [0.05, 0.1, 0.5, 7, 70, 0]) waits.observe(value);
  expect((await metrics.scrape()).split("\n")).toEqual([
    "# HELP wait_seconds Waiting.",
    "# TYPE wait_seconds histogram",
    'wait_seconds_bucket{le="0.1"} 3',
    'wait_seconds_bucket{le="1"} 4',
    'wait_seconds_bucket{le="10"} 5',
    'wait_seconds_bucket{le="+Inf"} 6',
    "wait_seconds_sum 77.65",
    "wait_seconds_count 6",
    "",
  ]);
  expect(metrics.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
});

test("a figure that is kept elsewhere is read when somebody asks", async () => {
  const metrics = createMetricsRegistry();
  let rooms = [{ labels: { house: "a" }, value: 1 }];
  metrics.collector({ name: "rooms", help: "Rooms.", type: "gauge" }, () => rooms);
  expect(await metrics.scrape()).toContain('rooms{house="a"} 1\n');
  rooms = [{ labels: { house: "b" }, value: Number.POSITIVE_INFINITY }];
  expect(await metrics.scrape()).toContain('rooms{house="b"} +Inf\n');
  expect(await metrics.scrape()).not.toContain('house="a"');
});

test("texts cannot break out of their place", async () => {
  const metrics = createMetricsRegistry();
  metrics.collector({ name: "odd", help: "one\ntwo \\ three", type: "gauge" }, () => [
    { labels: { text: 'a"b\\c\nd' }, value: 1 },
  ]);
  expect(await metrics.scrape()).toBe(
    '# HELP odd one\\ntwo \\\\ three\n# TYPE odd gauge\nodd{text="a\\"b\\\\c\\nd"} 1\n',
  );
});

test("two figures cannot have one name", () => {
  const metrics = createMetricsRegistry();
  metrics.counter({ name: "a_total", help: "A." });
  expect(() => metrics.counter({ name: "a_total", help: "A." })).toThrow(
    "metric a_total is already registered",
  );
});
