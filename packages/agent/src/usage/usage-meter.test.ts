import { Fault } from "@resource-broker/base";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { usageFrom, usageMeter } from "./usage-meter.ts";

const GI = 2 ** 30;
const MINUTE = 60_000;

const metricsOf = (name: string, cpu: string, memory: string) => ({
  metadata: { name },
  usage: { cpu, memory },
});

describe("metrics of nodes", () => {
  const isCounted = (name: string): boolean => name !== "virtual";

  test("are added up over the counted nodes", () => {
    const list = {
      items: [
        metricsOf("a", "1500m", "2Gi"),
        metricsOf("b", "123456789n", "1048576Ki"),
        metricsOf("virtual", "64", "1Ti"),
      ],
    };
    expect(usageFrom(list, isCounted)).toMatchObject({ cpuMillis: 1500 + 124, memoryBytes: 3 * GI });
  });

  test.each([
    ["nothing", undefined],
    ["no list", { kind: "Status" }],
    ["an empty list", { items: [] }],
    ["a list that is none", { items: "all" }],
    ["only nodes that are not counted", { items: [metricsOf("virtual", "1", "1Gi")] }],
    ["entries without names", { items: [null, 7, { usage: { cpu: "1" } }] }],
  ])("that are %s say nothing", (_, list) => {
    expect(usageFrom(list, isCounted)).toBeUndefined();
  });
});

function meter() {
  const time = fakeClock();
  const lines: string[] = [];
  const write = (level: string) => (_: unknown, message: string) => void lines.push(`${level} ${message}`);
  const paths: string[] = [];
  let answer: () => Promise<unknown> = () => Promise.resolve({ items: [metricsOf("a", "1", "1Gi")] });
  const made = usageMeter(
    { intervalMs: 30_000 },
    {
      client: {
        read: (path) => {
          paths.push(path);
          return answer();
        },
      },
      isCounted: () => true,
      clock: time,
      log: { info: write("info"), warn: write("warn"), error: write("error") },
    },
  );
  onTestFinished(made.stop);
  return {
    ...made,
    time,
    lines,
    paths,
    answerWith: (next: () => Promise<unknown>) => {
      answer = next;
    },
    failWith: (fault: Fault) => {
      answer = () => Promise.reject(fault);
    },
  };
}

describe("the usage meter", () => {
  test("reads the nodes' metrics once for each advertisement", async () => {
    const { start, time, paths, current, answerWith } = meter();
    expect(current()).toBeUndefined();
    start();
    await settle();
    expect(current()).toMatchObject({ cpuMillis: 1000 });
    answerWith(() => Promise.resolve({ items: [metricsOf("a", "2", "1Gi")] }));
    await time.advance(29_999);
    expect(current()).toMatchObject({ cpuMillis: 1000 });
    await time.advance(1);
    expect(current()).toMatchObject({ cpuMillis: 2000 });
    expect(paths).toEqual(Array(2).fill("/apis/metrics.k8s.io/v1beta1/nodes"));
  });

  test("asks again after ten minutes where nobody serves metrics", async () => {
    const { start, time, paths, lines, current, failWith } = meter();
    failWith(new Fault("not-found", "the server could not find the requested resource"));
    start();
    await time.advance(9 * MINUTE);
    expect([paths.length, current()]).toEqual([1, undefined]);
    await time.advance(MINUTE);
    expect(paths).toHaveLength(2);
    expect(lines).toEqual(["info metrics.k8s.io is not served: real consumption is not advertised"]);
  });

  test("forgets what it knew when metrics fail, reports it once, and reports when they are back", async () => {
    const { start, time, lines, current, failWith, answerWith } = meter();
    start();
    await settle();
    failWith(new Fault("overloaded", "the server is currently unable to handle the request"));
    await time.advance(3 * MINUTE);
    expect(current()).toBeUndefined();
    answerWith(() => Promise.resolve({ items: [metricsOf("a", "1", "1Gi")] }));
    await time.advance(30_000);
    expect(current()).toMatchObject({ cpuMillis: 1000 });
    expect(lines).toEqual([
      expect.stringMatching(/^warn reading metrics.k8s.io fails/),
      "info reading metrics.k8s.io works again",
    ]);
  });
});
