import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { answerFrom } from "../tests/subject/calls.ts";
import { readBaselineCertificates } from "../tests/subject/subject.ts";
import { limitConcurrency, lookUntil, type OnCleanup, withCleanup } from "./async.ts";
import { wholeReply } from "./load/connection.ts";
import { inScope, inTurn, numbersTo } from "./scope.ts";
import { coreShare, coreShares, sampleOf, sampleProcess, ticksFrom } from "./sample-process.ts";
import { distributionOf, linearFit, logLogFit, percentile } from "./statistics.ts";

test.each([
  [[9, 1, 5], 0.5, 5],
  [[1, 2, 3, 10], 0.5, 2.5],
  [[3, 1, 2], 1, 3],
  [[3, 1, 2], 0, 1],
  [[0, 100], 0.95, 95],
  [[], 0.5, undefined],
])("of %j the share %d does not exceed %d", (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
  expect(distributionOf(values)?.count ?? 0).toBe(values.length);
});

const XS = [1, 2, 5, 10, 100, 1000];
test("a line is found again from its points; one place alone has none", () => {
  const number = fc.double({ min: -100, max: 100, noNaN: true });
  fc.assert(
    fc.property(number, number, (slope, offset) => {
      const fit = linearFit(XS.map((x) => ({ x, y: slope * x + offset })));
      expect(fit?.slope).toBeCloseTo(slope, 5);
      expect(fit?.offset).toBeCloseTo(offset, 3);
    }),
  );
  expect(linearFit([1, 3].map((y) => ({ x: 2, y })))).toBeUndefined();
});

test.each([
  ["in proportion", (x: number) => 3 * x, 1],
  ["with the square", (x: number) => x * x, 2],
  ["not at all", () => 7, 0],
])("what grows %s has its slope; points without a logarithm are left out", (_, cost, slope) => {
  const fit = logLogFit([{ x: 0, y: 5 }, ...XS.map((x) => ({ x, y: cost(x) }))]);
  expect(fit?.slope).toBeCloseTo(slope);
  expect(fit?.r2).toBeCloseTo(1);
});

test("the share of a core is CPU time over wall time; each window has its own", () => {
  const looks = [
    [0, 500],
    [1000, 510],
    [2000, 520],
    [3001, 550],
    [4001, 580],
    [5000, 590],
  ] as const;
  const samples = looks.map(([atMs, cpuMs]) => ({ atMs, cpuMs }));
  expect([coreShare(samples.slice(0, 3)), coreShare(samples.slice(0, 1))]).toEqual([1, undefined]);
  expect(coreShares(samples, 2000).map((share) => Math.round(10 * share) / 10)).toEqual([1, 3]);
});

test("CPU ticks are found behind any name of a program", () => {
  const before = ["R", ...Array.from({ length: 10 }, () => "1")];
  expect(ticksFrom(`42 (a (b) c) 7 7) ${[...before, "250", "50", "9"].join(" ")}`)).toBe(300);
});

test.skipIf(process.platform !== "linux")(
  "this process is read in both ways, until it is told to stop",
  async () => {
    const { cpuMs, ticksMs } = sampleOf(process.pid, 0);
    expect(Math.abs(cpuMs - ticksMs)).toBeLessThan(0.5 * cpuMs + 50);
    const { signal } = new AbortController();
    expect(await sampleProcess(process.pid, { everyMs: 2, forMs: 5, signal })).toHaveLength(4);
    const stopping = new AbortController();
    const onSample = (): void => stopping.abort();
    const sampling = sampleProcess(process.pid, {
      everyMs: 6e4,
      forMs: 6e5,
      signal: stopping.signal,
      onSample,
    });
    await expect(sampling).rejects.toThrow(/abort/i);
  },
);

const REPLIES = [
  ['HTTP/1.1 201 Created\r\nX: y\r\nContent-Length: 7\r\n\r\n{"a":1}', 201, '{"a":1}'],
  ["HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\n{}", 409, "{}"],
  ["HTTP/1.1 204 No Content\r\n\r\n", 204, ""],
  [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n, \r\nworld!\r\n0\r\n\r\n",
    200,
    "hello, \r\nworld!",
  ],
] as const;
test.each(REPLIES)("%j is read, and not before it is whole", (text, status, body) => {
  const reply = wholeReply(Buffer.from(text));
  expect([reply?.status, reply?.body.toString()]).toEqual([status, body]);
  for (let cut = 0; cut < text.length; cut++)
    expect(wholeReply(Buffer.from(text.slice(0, cut)))).toBeUndefined();
});

test.each([
  ['{"id":"rsv-1","targetClusterID":"paris"}', 201, { status: 201, id: "rsv-1", provider: "paris" }],
  ['{"reasons":[]}', 409, { status: 409, reasons: [] }],
  ["nothing fits\n", 409, { status: 409 }],
])("the answer %s is read", (body, status, answer) => {
  expect(answerFrom({ status, body: Buffer.from(body) })).toEqual(answer);
  expect(answerFrom(undefined)).toEqual({ status: 0 });
});

test("what was begun last ends first, also when something fails on the way", async () => {
  const ended: string[] = [];
  const run = withCleanup(async (onCleanup) => {
    onCleanup(() => ended.push("broker"));
    onCleanup(() => {
      ended.push("agent");
      throw new Error("it has ended already");
    });
    throw new Error("measuring failed");
  });
  await expect(run).rejects.toThrow("measuring failed");
  expect(ended).toEqual(["agent", "broker"]);
});

test("steps are done in turn, what each starts ends with it, and none begins after a stop", async () => {
  const told: string[] = [];
  const stopping = new AbortController();
  const onCleanup: OnCleanup = () => expect.unreachable();
  const context = {
    signal: stopping.signal,
    progress: (share: number, doing: string) => void told.push(`${share} ${doing}`),
    onCleanup,
  };
  const steps = inTurn(context, numbersTo(4), {
    doing: (number) => `step ${number}`,
    task: (number) =>
      inScope(context, async (inner) => {
        inner.onCleanup(() => told.push(`end ${number}`));
        if (number === 2) stopping.abort(new Error("stopped"));
      }),
  });
  await expect(steps).rejects.toThrow("stopped");
  expect(told).toEqual(["0 step 1", "end 1", "0.25 step 2", "end 2"]);
});

test("what is waited for is looked for at least once, and given up in time", async () => {
  const looks = { everyMs: 1, withinMs: 0 };
  let looked = 0;
  expect(await lookUntil(looks, () => "there")).toBe("there");
  expect(await lookUntil(looks, () => void looked++)).toBeUndefined();
  expect(looked).toBe(1);
  expect(await lookUntil({ everyMs: 1, withinMs: 1e4 }, () => (++looked > 3 ? looked : undefined))).toBe(4);
});

test("never more than so many are under way, and a failure keeps nobody waiting", async () => {
  const gate = limitConcurrency(3);
  let [underWay, most] = [0, 0];
  const task = (number: number) => async (): Promise<number> => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    if (number % 4 === 0) throw new Error("failed");
    return number;
  };
  const ends = await Promise.allSettled(Array.from({ length: 20 }, (_, number) => gate(task(number))));
  expect([most, ends.filter(({ status }) => status === "fulfilled").length]).toEqual([3, 15]);
});

test("a cluster of another broker is called what its certificate says; one alone is not enough", async () => {
  const folder = await mkdtemp(join(tmpdir(), "baseline-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const certificates = await testCertificates();
  await writeCertificateFolder(join(folder, "folder-0"), certificates.cluster("rome"));
  await expect(readBaselineCertificates(folder)).rejects.toThrow(/at least 2 clusters; found 1/);
  await writeCertificateFolder(join(folder, "folder-1"), certificates.cluster("paris"));
  const identities = await readBaselineCertificates(folder);
  expect(identities.map(({ clusterId }) => clusterId)).toEqual(["rome", "paris"]);
  await expect(readBaselineCertificates("/nowhere/certs")).rejects.toThrow("there is no such folder");
});
