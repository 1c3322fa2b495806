import { expect, test } from "vitest";
import type { Connection } from "../measure/load/connection.ts";
import { recount } from "./5-concurrency/results.ts";
import { checkOf, type OracleResult } from "./6-accuracy/oracle.ts";
import { listen } from "./push.ts";
import { compareWithAcknowledged } from "./recovery.ts";
import { wrongOutcomes } from "./11-money/results.ts";
import { TESTS } from "./index.ts";
import { byMeasurement } from "../evaluation-test.ts";
import type { Answer } from "./subject/calls.ts";
import { baselineText } from "./subject/side-by-side.ts";

/** As the report is made: from the JSON of a measurement. */
function judge(id: string, result: unknown) {
  const found = TESTS.find((each) => each.id === id);
  if (found === undefined) throw new Error(`there is no test ${id}`);
  return found.judge(JSON.parse(JSON.stringify(result)));
}

test("every test has an id of its own, says how it is measured, and all fit into their time", () => {
  expect(new Set(TESTS.map(({ id }) => id)).size).toBe(TESTS.length);
  for (const { method } of TESTS) expect(method.length).toBeGreaterThan(100);
  for (const [size, most] of [
    ["smoke", 85],
    ["quick", 315],
    ["full", 3_600],
  ] as const) {
    const planned = byMeasurement(TESTS).map(([{ expectedSeconds }]) => expectedSeconds[size]);
    expect(planned.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(most);
  }
});

const sample = (atMs: number, cpuMs: number, more: object = {}) => ({
  atMs,
  cpuMs,
  ticksMs: cpuMs,
  rssMb: 72,
  privateMb: 20,
  sentBytes: atMs / 10,
  receivedBytes: atMs,
  ...more,
});
const step = (fleet: string, count: number, more: object = {}) => {
  const samples = [sample(0, 0), sample(30_000, 270), sample(60_000, 600)];
  return { fleet, count, heard: count, failed: 0, samples, ...more };
};
const staircase = (...steps: readonly object[]) => ({ windowMs: 60_000, intervalMs: 30_000, steps });

const grant = (provider: string, id: string): Answer => ({ status: 201, tookMs: 1, provider, id });
const full = ["a", "b"].map((clusterID) => ({ clusterID, reason: "capacity" }));
const refusal: Answer = { status: 409, tookMs: 1, reasons: full };
const RIGHT = [grant("a", "1"), grant("b", "2"), grant("a", "3"), refusal];
const exhausted = (answers: readonly Answer[], afterRelease = [201, 409]) => {
  const lenders = [
    { clusterId: "a", cpuMillis: 1200, memoryMi: 1024 },
    { clusterId: "b", cpuMillis: 4000, memoryMi: 300 },
  ];
  return { ours: { subject: "us", runs: [{ name: "run", lenders, askers: 1, answers, afterRelease }] } };
};

const atRest = (samples: readonly object[], heard = 1) => ({
  forMs: 300_000,
  nodes: 10,
  pods: 200,
  samples,
  connections: 2,
  heard,
});
const REST = Array.from({ length: 601 }, (_, at) => sample(at * 500, 300 + (3 * at) / 20));
const trial = { created: 1, reserved: 5, reservationInstruction: 12, providerInstruction: 9 };
const latency = (trials: readonly object[], failures: readonly object[]) => ({
  ours: { subject: "us", trials, failures },
});
const level = { simultaneous: 1, roundsMs: [[1.5]], timeouts: 0, refused: 0 };
const contest = { simultaneous: 100, room: 50, granted: 50, timeouts: 0 };
const counted = { acknowledged: 2, listed: 2, lost: 0, doubled: 0 };
const burst = (more: object) => ({
  ours: { subject: "us", lenders: 3, levels: [level], contest, recount: counted, ...more },
});
const start = { certificateMs: 100, processMs: 80, advertisementMs: 70, cpuMs: 120 };
const told = { way: "push", answeredMs: 2, toldMs: 3 };
const kill = { reservations: 10, readyMs: 200, firstGrantMs: 205, unanswered: 0, lost: 0, strange: 0 };
const killed = (more: object) => ({ steps: [{ planned: 10, recoveries: [kill, { ...kill, ...more }] }] });
const grown = (rssMb: number) => ({
  clusters: [1, 10].map((clusters) => ({ clusters, reservationUs: 100, advertisementUs: 100, rssMb: 70 })),
  pods: [200, 150_000].map((pods) => ({ pods, nodes: 7, syncCpuMs: 1000, rssMb, privateMb: 20 })),
  wrong: [],
});
const nodes = (trials: readonly object[], failures: readonly object[] = []) => ({
  kind: "measured",
  trials,
  failures,
});

const spread = (mean: number) => ({
  count: 1,
  mean,
  median: mean,
  p95: mean,
  p99: mean,
  least: mean,
  most: mean,
});
const wayOf = (way: string, mean: number) => ({
  way,
  calls: 1,
  written: 1,
  utilisation: 50,
  utilisationOverTime: [],
  tenants: [{ tenant: "a", weight: 1, jobs: 1, waited: spread(mean), neverServed: 0, slowdown: 1 }],
  waited: spread(mean),
  waitedLarge: spread(mean),
  neverServed: 0,
  fairSlowdown: 1,
  fairShare: 1,
});
const waited = (queue: object) => ({
  jobs: 1,
  lastsHours: 1,
  load: 1,
  clusters: 1,
  cpus: 1,
  ways: [wayOf("asking again", 30), wayOf("first come", 10), wayOf("the queue", 12)],
  queue: { promises: 7, late: [], gaveWay: [], idleWaits: [], mostWaiting: 1, lookMs: spread(1), ...queue },
  overlent: [],
});

type Row = [id: string, result: unknown, faults: RegExp[], ours?: string[]];

/** Of each measurement: one that is right, and what the README would say of it; and what is wrong with others. */
const ROWS: Row[] = [
  [
    "1a",
    staircase(step("agents", 100), step("pollers", 100)),
    [],
    ["1.00 % of one core", "1.00 % of one core"],
  ],
  ["1a", staircase(step("agents", 10, { heard: 9 })), [/of 10 real agents the broker had heard 9 lately/]],
  ["1a", staircase(step("clients", 1000, { failed: 3 })), [/3 calls or streams of 1,000 protocol clients/]],
  ["1b", staircase(step("agents", 100), step("clients", 1000)), [], ["72.0 MB", "72.0 MB"]],
  ["1c", exhausted(RIGHT), [], ["3/3, split 2/1"]],
  ["1c", exhausted(RIGHT.filter(({ id }) => id !== "3")), [/2 granted, there was room for 3/]],
  ["1c", exhausted([grant("b", "1"), grant("b", "2"), grant("a", "3")]), [/b lends more/]],
  ["1c", exhausted([grant("a", "1"), grant("b", "2"), grant("a", "1")]), [/the same id/]],
  ["1c", exhausted([refusal, ...RIGHT]), [/1 refused while there was room/]],
  ["1c", exhausted([...RIGHT, { status: 503, tookMs: 1 }]), [/answered with 503/]],
  ["1c", exhausted([...RIGHT, { ...refusal, reasons: full.slice(1) }]), [/1 refusals do not say/]],
  ["1c", exhausted(RIGHT, [409, 409]), [/got 409 and 409/]],
  ["2", atRest(REST), [], ["100 B/s"]],
  ["2", atRest(REST, 0), [/heard 0 clusters/]],
  ["3", atRest(REST), [], ["0.03 % of one core", "72.0 MB"]],
  ["4", latency([trial], []), [], ["5.00 ms", "12.0 ms", "9.00 ms", "12.0 ms"]],
  ["4", latency([], [{ trial: "latency-3", problem: "refused" }]), [/latency-3: refused/, /no trial came/]],
  ["5", burst({}), [], ["1.50 / 1.50 ms", "0 / 0"]],
  [
    "5",
    burst({ levels: [{ ...level, timeouts: 1, refused: 2 }] }),
    [/1 requests without/, /2 requests were refused/],
  ],
  ["5", burst({ contest: { ...contest, granted: 51 } }), [/100 simultaneous for 50 places: 51 granted/]],
  [
    "5",
    burst({ recount: { ...counted, lost: 1, doubled: 1 } }),
    [/1 acknowledged .* not in/, /1 double bookings/],
  ],
  [
    "load",
    { loads: [{ name: "x", clusters: 1, inFlight: 1, rounds: [], unexpected: 2 }] },
    [/x: 2 replies/],
    ["0"],
  ],
  ["decide", { rows: [{ name: "x", nanoseconds: 1500, target: "" }] }, [], []],
  ["6", { named: [], random: [{ verdict: "wrong", problem: "oslo lends" }] }, [/scenario 0: oslo lends/]],
  ["7", { trials: [start] }, [], ["250 ms", "150 ms"]],
  ["7", { trials: [start, { ...start, advertisementMs: undefined }] }, [/never heard the agent of trial 2/]],
  ["8", { providers: 1, told: [told] }, [], ["3.00 / 3.00 ms"]],
  [
    "8",
    { providers: 1, told: [told, { way: "poll", answeredMs: 2 }] },
    [/poll: 1 reservations .* never heard/],
  ],
  ["9", killed({}), [], ["200 ms", "0 / 0"]],
  ["9", killed({ lost: 2, strange: 1 }), [/kill 2 at 10: 2 .* lost/, /kill 2 at 10: 1 .* nobody made/]],
  ["10", grown(70), [], ["100 µs", "70.0 MB"]],
  ["12", nodes([{ way: "request", pair: "first", instructionMs: 20, readyMs: 5000 }]), [], ["5.00 / – s"]],
  ["12", nodes([], [{ trial: "next 2", problem: "not Ready" }]), [/next 2: not Ready/, /no trial came/]],
  ["12", { kind: "not measured", reason: "no liqoctl" }, [], []],
  ["13", waited({}), [], ["12.0 min / 30.0 min", "0 of 7"]],
  ["13", waited({ late: [{ id: "job-1", promisedAt: 1, promised: 2, started: 3 }] }), [/job-1 was first/]],
  ["13", waited({ idleWaits: Array(7).fill("x waited") }), [...Array(5).fill(/x waited/), /and 2 more/]],
  ["13", { ...waited({}), overlent: ["paris lent 17"] }, [/paris lent 17/]],
];

test.each(ROWS)("a result of %s is judged: row %#", (id, result, faults, ours) => {
  const judged = judge(id, result);
  expect(judged.faults).toHaveLength(faults.length);
  for (const [at, fault] of faults.entries()) expect(judged.faults[at]).toMatch(fault);
  if (ours !== undefined) expect(judged.summary.map((row) => row.ours)).toEqual(ours);
});

test("a figure short of our own target is said", () => {
  expect(judge("5", burst({})).text).toContain("at 1 the median is 1.50 ms, the target 1 ms.");
  expect(judge("10", grown(95)).text).toContain("for 150,000 pods: 95.0 MB instead of 80 MB");
});

test("where the queue is worse than another way of waiting is said first", () => {
  const { text } = judge("13", waited({}));
  expect(text).toMatch(/^\*\*Where the queue is worse:\*\*/);
  expect(text).toContain("- mean wait: 12.0 min, with first come 10.0 min");
  expect(text).toContain("- a waits 12.0 min on average, with first come 10.0 min");
  expect(text).not.toContain("with asking again");
});

test("a chart of growth is log-log and states its slope", () => {
  for (const { x, y, notes = [] } of judge("10", grown(70)).charts) {
    expect([x.scale, y.scale]).toEqual(["log", "log"]);
    expect(notes.join()).toMatch(/slope -?\d\.\d\d \(log-log\), .* between the last two: flat/);
  }
});

test("what another broker did wrong is told, the first ten of it, and is no fault of ours", () => {
  const faults = Array.from({ length: 12 }, (_, at) => `fault ${at}`);
  const told = baselineText({ ours: "", baseline: "other" }, (each) => (each === "other" ? faults : []));
  expect(told.join("\n").split("\n").slice(-2)).toEqual(["- fault 9", "- and 2 more"]);
  expect(baselineText({ ours: "", baselineFailed: "500" }, () => []).join()).toContain("to the end**: 500");
});

const at = (id: string, targetClusterID: string) => ({ id, targetClusterID });
test.each([
  ["all is as it was said", ["1", "2"], [at("1", "a"), at("2", "a")], { lost: 0, doubled: 0 }],
  ["one was lost", ["1", "2"], [at("1", "a")], { lost: 1, doubled: 0 }],
  [
    "one lends too much",
    ["1", "2", "3"],
    [at("1", "a"), at("2", "a"), at("3", "a")],
    { lost: 0, doubled: 1 },
  ],
  ["one id was given twice", ["1", "1"], [at("1", "a")], { lost: 0, doubled: 1 }],
])("a second count of the ledger finds that %s", (_, acknowledged, listed, found) => {
  expect(recount(acknowledged, listed, { taken: () => 1, roomOf: () => 2 })).toMatchObject(found);
});

test.each([
  ["one that was on its way is there, too", ["1", "2"], ["1", "2", "3"], { lost: 0, strange: 0 }],
  ["one is missing", ["1", "2"], ["2"], { lost: 1, strange: 0 }],
  ["one more than was asked for is there", ["1"], ["1", "2", "3"], { lost: 0, strange: 1 }],
  ["one is there twice", ["1"], ["1", "1"], { lost: 0, strange: 1 }],
])("after a kill %s", (_, acknowledged, listed, found) => {
  expect(compareWithAcknowledged(new Set(acknowledged), listed, 1)).toEqual(found);
});

test.each([
  ["lends what is not there", ["a", "a", "a"], /request 2 was granted by a/],
  ["refuses while there is room", ["a", undefined, "b"], /request 1 was refused, but a had room/],
])("a policy that %s is found", (_, chosen, problem) => {
  const ask = { atMs: 0, requester: "x", memoryBytes: 1, durationMs: 1 };
  const trace = [2000, 2000, 4000].map((cpuMillis) => ({ ...ask, cpuMillis }));
  const providers = ["a", "b"].map((cluster) => ({ cluster, cpus: 4 }));
  const outcomes = chosen.map((provider) => (provider === undefined ? {} : { provider }));
  expect(wrongOutcomes({ policy: "random", outcomes }, { trace, providers, lastsMs: 1 })).toEqual([
    expect.stringMatching(problem),
  ]);
});

const PARIS: OracleResult = {
  winner: "paris",
  level: ["paris", "oslo"],
  refusals: new Map([["rome", ["self"]]]),
};
const NOBODY: OracleResult = {
  winner: undefined,
  level: [],
  refusals: new Map([["rome", ["self", "capacity"]]]),
};
const refused = (...reasons: readonly string[]): Answer => ({
  status: 409,
  tookMs: 1,
  reasons: reasons.map((reason) => ({ clusterID: "rome", reason })),
});
test.each<[OracleResult, Answer, string, RegExp?]>([
  [PARIS, grant("paris", "r"), "right"],
  [PARIS, grant("oslo", "r"), "tie"],
  [PARIS, grant("tokyo", "r"), "wrong", /another one scores more/],
  [PARIS, grant("rome", "r"), "wrong", /wrong: self/],
  [PARIS, refused(), "wrong", /but paris can lend/],
  [PARIS, { status: 500, tookMs: 1 }, "wrong", /answered with 500/],
  [NOBODY, refused("capacity"), "right"],
  [NOBODY, refused("stale"), "wrong", /not self or capacity/],
  [NOBODY, refused(), "wrong", /without a word on rome/],
  [NOBODY, grant("rome", "r"), "wrong", /self, capacity/],
])("the oracle says %j, the broker %j: %s", (ruling, answer, verdict, problem = /^/) => {
  const check = checkOf(ruling, answer);
  expect(check.verdict).toBe(verdict);
  expect(check.problem ?? "").toMatch(problem);
});

test("an instruction is heard wherever it is cut in two, and nothing else is", () => {
  const event = 'event: instruction\ndata: {"id":"rsv-rome-1","requesterID":"rome"}\n\n';
  for (let cut = 1; cut < event.length; cut++) {
    const ids: string[] = [];
    const chunks = [
      ': heartbeat\n\nevent: capacity\ndata: {"id":"no"}\n\n',
      event.slice(0, cut),
      event.slice(cut),
    ];
    const stream: Connection["stream"] = (_, heard) => {
      for (const chunk of chunks) heard(Buffer.from(chunk));
    };
    const unused = (): never => expect.unreachable();
    listen({ clusterId: "paris", send: unused, stream, isClosed: unused, close: unused }, (id) =>
      ids.push(id),
    );
    expect(new Set(ids)).toEqual(new Set(["rsv-rome-1"]));
  }
});
