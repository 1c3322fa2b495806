import { Registry, Histogram as PromHistogram } from "prom-client";
import { expect, test } from "vitest";
import { createFigures } from "./figures.ts";

test("a counter without labels is there before it is first counted", async () => {
  const figures = createFigures();
  const conflicts = figures.counter({ name: "conflicts_total", help: "Conflicts." });
  expect(await figures.scrape()).toBe(
    "# HELP conflicts_total Conflicts.\n# TYPE conflicts_total counter\nconflicts_total 0\n",
  );
  conflicts.inc();
  conflicts.inc({}, 2.5);
  expect(await figures.scrape()).toContain("\nconflicts_total 3.5\n");
});

test("a counter with labels counts each set of them for itself", async () => {
  const figures = createFigures();
  const calls = figures.counter({ name: "calls_total", help: "Calls.", isLabelled: true });
  expect(await figures.scrape()).not.toContain("\ncalls_total");
  calls.inc({ route: "/a", status: "200" });
  calls.inc({ route: "/b", status: "200" });
  calls.inc({ route: "/a", status: "200" });
  expect((await figures.scrape()).split("\n").slice(2)).toEqual([
    'calls_total{route="/a",status="200"} 2',
    'calls_total{route="/b",status="200"} 1',
    "",
  ]);
});

test("a histogram reads like prom-client's", async () => {
  const about = { name: "wait_seconds", help: "Waiting.", buckets: [0.1, 1, 10] };
  const registry = new Registry();
  const theirs = new PromHistogram({ ...about, registers: [registry] });
  const figures = createFigures();
  const ours = figures.histogram(about);
  for (const value of [0.05, 0.1, 0.5, 7, 70, 0]) {
    theirs.observe(value);
    ours.observe(value);
  }
  expect(await figures.scrape()).toBe(await registry.metrics());
  expect(figures.contentType).toBe(registry.contentType);
});

test("what is no number spoils no sum", async () => {
  const figures = createFigures();
  const waits = figures.histogram({ name: "wait_seconds", help: "Waiting.", buckets: [1] });
  waits.observe(Number.NaN);
  waits.observe(2);
  expect(await figures.scrape()).toContain("wait_seconds_sum 2\nwait_seconds_count 1\n");
});

test("a figure that is kept elsewhere is read when somebody asks", async () => {
  const figures = createFigures();
  let rooms = [{ labels: { house: "a" }, value: 1 }];
  figures.read({ name: "rooms", help: "Rooms.", type: "gauge" }, () => rooms);
  expect(await figures.scrape()).toContain('rooms{house="a"} 1\n');
  rooms = [{ labels: { house: "b" }, value: Number.POSITIVE_INFINITY }];
  expect(await figures.scrape()).toContain('rooms{house="b"} +Inf\n');
  expect(await figures.scrape()).not.toContain('house="a"');
});

test("texts cannot break out of their place", async () => {
  const figures = createFigures();
  figures.read({ name: "odd", help: "one\ntwo \\ three", type: "gauge" }, () => [
    { labels: { text: 'a"b\\c\nd' }, value: 1 },
  ]);
  expect(await figures.scrape()).toBe(
    '# HELP odd one\\ntwo \\\\ three\n# TYPE odd gauge\nodd{text="a\\"b\\\\c\\nd"} 1\n',
  );
});

test("two figures cannot have one name", () => {
  const figures = createFigures();
  figures.counter({ name: "a_total", help: "A." });
  expect(() => figures.counter({ name: "a_total", help: "A." })).toThrow(
    "metric a_total is already registered",
  );
});
