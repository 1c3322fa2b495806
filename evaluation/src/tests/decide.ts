import { type AmountOptions, formatQuantity, parseAmount, parseQuantity } from "@resource-broker/base";
import { apply, DEFAULT_POLICY, decide, emptyLedger, type Ledger } from "@resource-broker/domain";
import { chooseProvider, cluster, priced, request } from "@resource-broker/domain/testing";
import { evaluationTest } from "../evaluation-test.ts";
import { median } from "../measure/statistics.ts";
import { tableOf } from "../report/format.ts";

/** How long one run of something takes. */
interface TimedRow {
  readonly name: string;
  /** Median time of one run. */
  readonly nanoseconds: number;
  /** What was promised, in words; empty when nothing was. */
  readonly target: string;
}

const WARM_UP_MS = 100;
const ROUND_MS = 40;
const ROUNDS = 9;

/** Results are kept here, so that the compiler cannot leave out work whose result nobody reads. */
const sink: { result: unknown } = { result: undefined };

/** Times `run` on this core: warmed up, then the median of several rounds. */
function timeOf(name: string, target: string, run: () => unknown): TimedRow {
  const repeats = Math.max(1, Math.round((repeatsWithin(WARM_UP_MS, run) * ROUND_MS) / WARM_UP_MS));
  return { name, nanoseconds: medianNanoseconds(repeats, run), target };
}

/** For what is warm already: the median over rounds of `repeats` runs, per run. */
function medianNanoseconds(repeats: number, run: () => unknown): number {
  return median(Array.from({ length: ROUNDS }, () => nanosecondsOf(repeats, run))) ?? Number.NaN;
}

function repeatsWithin(milliseconds: number, run: () => unknown): number {
  const end = performance.now() + milliseconds;
  let repeats = 0;
  while (performance.now() < end) {
    sink.result = run();
    repeats++;
  }
  return repeats;
}

function nanosecondsOf(repeats: number, run: () => unknown): number {
  const start = performance.now();
  for (let done = 0; done < repeats; done++) sink.result = run();
  return ((performance.now() - start) * 1e6) / repeats;
}

const CPU: AmountOptions = { unit: "milli", rounding: "up" };
const BYTES: AmountOptions = { unit: "one", rounding: "up" };
const TYPICAL_CPU = ["500m", "2", "1.5", "250m", "4", "100m", "3920m", "0.25"];
const TYPICAL_BYTES = ["8Gi", "512Mi", "16393244Ki", "128974848", "1.5Gi", "64Mi", "110", "20Gi"];
const UNUSUAL = ["129e6", "+7", "-1.5", "128974848000000000000m", "1.0000000000001"];
const WRONG = ["", "1gi", " 1", "8GB", "Infinity", "0x10"];

const LENGTH = 100;
const WORST_REPEATS = 50;
const RANDOM_INPUTS = 400;

/** What is read, and the texts that are read in turn, so that no single one can be specialised for. */
const READS: readonly { name: string; target: string; reads: readonly (() => unknown)[] }[] = [
  {
    name: "read a typical quantity as an amount",
    target: "0.5 µs",
    reads: [...readsOf(TYPICAL_CPU, CPU), ...readsOf(TYPICAL_BYTES, BYTES)],
  },
  { name: "… an unusual one, exactly", target: "", reads: readsOf(UNUSUAL, CPU) },
  { name: "… a wrong one, refused with its reason", target: "", reads: readsOf(WRONG, CPU) },
  {
    name: "read and print a quantity exactly",
    target: "",
    reads: TYPICAL_BYTES.map((text) => () => canonical(text)),
  },
];

function readsOf(texts: readonly string[], options: AmountOptions): (() => unknown)[] {
  return texts.map((text) => () => parseAmount(text, options));
}

function quantityTimes(): TimedRow[] {
  const rows = READS.map(({ name, target, reads }) => {
    const row = timeOf(name, target, () => {
      let last: unknown;
      for (const read of reads) last = read();
      return last;
    });
    return { ...row, nanoseconds: row.nanoseconds / reads.length };
  });
  return [...rows, worstOf100Characters()];
}

function worstOf100Characters(): TimedRow {
  const inputs = [...adverseInputs(), ...randomInputs()];
  // All once before any is timed: the first must not pay for the compiler.
  for (const text of inputs) medianNanoseconds(WORST_REPEATS, () => parseAmount(text, CPU));
  const times = inputs.map((text) => medianNanoseconds(WORST_REPEATS, () => parseAmount(text, CPU)));
  return {
    name: `read the slowest of ${inputs.length} texts of ${LENGTH} characters`,
    nanoseconds: Math.max(...times),
    target: "50 µs",
  };
}

function adverseInputs(): string[] {
  const nines = "9".repeat(LENGTH);
  return [
    nines,
    ...["n", "m", "E", "Ki", "Ei", "e100", "e-100", "gi", " ", "e", "💥"].map((end) =>
      endingWith(nines, end),
    ),
    ...["n", "Ki", "Ei", "e-100", "E"].map((end) => endingWith(`0.${nines}`, end)),
    ...["n", "Ei", "e-100", ".1"].map((end) => endingWith(`0.${"0".repeat(LENGTH)}`, end)),
    endingWith(`-${nines}`, "e-100"),
    endingWith(`1e${"0".repeat(LENGTH)}`, "3"),
    endingWith(`1e${nines}`, "9"),
    ...["e", "Gi", "-", ".", " ", "x", "\u202e"].map((filling) =>
      `1${filling.repeat(LENGTH)}`.slice(0, LENGTH),
    ),
  ];
}

function endingWith(text: string, end: string): string {
  return text.slice(0, LENGTH - end.length) + end;
}

/** Always the same texts, so that two runs can be compared. */
function randomInputs(): string[] {
  const alphabet = "0123456789012345678901234567890123456789+-.eEinumkKMGTP ";
  let seed = 1;
  const next = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return alphabet.charAt(seed % alphabet.length);
  };
  return Array.from({ length: RANDOM_INPUTS }, () => Array.from({ length: LENGTH }, next).join(""));
}

function canonical(text: string): string {
  const parsed = parseQuantity(text);
  return parsed.ok ? formatQuantity(parsed.quantity) : parsed.problem;
}

const NOW = Date.UTC(2026, 0, 5, 12);
const FLEETS = [
  { clusters: 100, target: "" },
  { clusters: 1000, target: "0.1 ms" },
  { clusters: 10_000, target: "1 ms" },
];

/** Clusters of different sizes, loads and prices, so that few score alike; or all the same, so that all tie. */
function fleetOf(clusters: number, areAlike = false): Ledger {
  const ledger = emptyLedger();
  for (let index = 0; index < clusters; index++) {
    const varied = {
      cpu: 16 + (index % 97),
      memoryGi: 64 + (index % 89),
      gpu: index % 5,
      allocated: { cpu: index % 13, memoryGi: index % 31 },
      more: { cost: priced(0.02 + (index % 101) / 5000), instance: "bench", sequence: 1 },
    };
    const advertisement = cluster(`cluster-${index}`, areAlike ? {} : varied);
    apply(ledger, { kind: "advertised", at: NOW, advertisement });
  }
  return ledger;
}

function decisionTimes(): TimedRow[] {
  return FLEETS.flatMap(({ clusters, target }) => {
    const ledger = fleetOf(clusters);
    const alike = fleetOf(clusters, true);
    const context = { now: NOW, policy: DEFAULT_POLICY };
    const fitting = { requester: "cluster-0", request: request({ cpu: 4, memoryGi: 8 }), ...context };
    const ratings = Object.fromEntries(
      ledger.candidateTable.candidates.map(({ clusterId }, index) => [clusterId, (index % 10) / 10]),
    );
    const weights = { ...DEFAULT_POLICY.weights, latency: 0.2 };
    const rated = { ...fitting, policy: { ...DEFAULT_POLICY, weights, ratings: { latency: ratings } } };
    const command = {
      kind: "reserve",
      requester: "cluster-0",
      request: fitting.request,
      reservationId: "r",
      decisionId: "d",
    } as const;
    const unschedulable = { ...command, request: request({ cpu: 1000 }) };
    const name = `${clusters.toLocaleString("en")} providers`;
    return [
      timeOf(`decide among ${name}, explanation deferred`, target, () =>
        chooseProvider(ledger.candidateTable, fitting, "d"),
      ),
      timeOf(`… with a third scorer that rates them`, "", () =>
        chooseProvider(ledger.candidateTable, rated, "d"),
      ),
      timeOf(`… with its decision record`, "", () => decide(ledger, command, context)),
      timeOf(`… all of them alike`, "", () => chooseProvider(alike.candidateTable, fitting, "d")),
      timeOf(`… refused everywhere, with its record`, "", () => decide(ledger, unschedulable, context)),
    ];
  });
}

const WAITING = 10_000;
const WAITING_PROVIDERS = 1000;
const WAITING_SIZES = [12, 16, 24, 32];

/** A fleet without room for the smallest size that waits; the first ends are known. */
function fullFleet(): Ledger {
  const ledger = fleetOf(WAITING_PROVIDERS);
  for (let n = 0; ; n++) {
    const durationMs = (1 + (n % 240)) * 60_000;
    // A requester has a limited number of reservations.
    const requester = `borrower-${n % 100}`;
    const asked = { requester, request: request({ cpu: 10, memoryGi: 1 }, { durationMs }) };
    const { events, reply } = decide(ledger, reserveCommand(`rsv-${n}`, asked), WAITING_CONTEXT);
    if (reply.kind !== "granted") return ledger;
    for (const event of events) apply(ledger, event);
  }
}

const { queue: defaultQueue } = DEFAULT_POLICY;
const WAITING_CONTEXT = {
  now: NOW + DEFAULT_POLICY.stalenessMs,
  policy: { ...DEFAULT_POLICY, queue: { ...defaultQueue, max: WAITING } },
};

function reserveCommand(
  reservationId: string,
  asked: Pick<Extract<Parameters<typeof decide>[1], { readonly kind: "reserve" }>, "requester" | "request">,
) {
  return { kind: "reserve", ...asked, reservationId, decisionId: "d" } as const;
}

/** Fills the queue, and looks at it until nobody in it fits. */
function withQueue(ledger: Ledger): Ledger {
  for (let n = 0; n < WAITING; n++) {
    const cpu = WAITING_SIZES[n % WAITING_SIZES.length] ?? 0;
    const asked = {
      requester: `cluster-${n % WAITING_PROVIDERS}`,
      request: request({ cpu, memoryGi: 1 }, { durationMs: 3_600_000 }),
    };
    const wait = { key: `k${n}`, wait: {}, protocol: 3 };
    const command = { ...reserveCommand(`rsv-waits-${n}`, asked), ...wait };
    for (const event of decide(ledger, command, WAITING_CONTEXT).events) apply(ledger, event);
  }
  for (;;) {
    const { events, reply } = decide(ledger, ADMIT, WAITING_CONTEXT);
    for (const event of events) apply(ledger, event);
    if (reply.kind !== "admitted" || !reply.hasMore) return ledger;
  }
}

const ADMIT = { kind: "admit", decisionId: "d" } as const;

function queueTimes(): TimedRow[] {
  const ledger = fullFleet();
  const asked = { requester: "elsewhere", request: request({ cpu: 1, memoryGi: 1 }, { durationMs: 60_000 }) };
  const newcomer = (): unknown => decide(ledger, reserveCommand("rsv-new", asked), WAITING_CONTEXT);
  const alone = timeOf(`grant in a full fleet of 1,000 providers, nobody waits`, "", newcomer);
  withQueue(ledger);
  const waiting = WAITING.toLocaleString("en");
  if (ledger.waiting.pendingCount !== WAITING)
    throw new Error(`${ledger.waiting.pendingCount} wait instead of ${waiting}`);
  return [
    alone,
    timeOf(`… while ${waiting} requests wait`, "50 µs more", newcomer),
    timeOf(`look at ${waiting} waiting requests, of which none fits`, "5 ms", () =>
      decide(ledger, ADMIT, WAITING_CONTEXT),
    ),
  ];
}

/** What is computed for one request, without network, process or disk: `npm run bench:domain`. */
export const decideTest = evaluationTest<{ readonly rows: readonly TimedRow[] }>({
  id: "decide",
  title: "Deciding: the computation alone",
  method: [
    "In this process, on the core of the load: each function is run for 100 ms to warm up, then in nine rounds of about 40 ms; the figure is the median round's",
    "time of one run by the monotonic clock. Quantities are read from a mix of typical, unusual, wrong and adverse texts; decisions are made among 100, 1,000 and",
    "10,000 providers of different sizes, loads and prices, or all alike; with 10,000 requests of four sizes in the queue of a full fleet.",
  ].join("\n"),
  expectedSeconds: { smoke: 0, quick: 8, full: 8 },
  run: async () => ({ rows: [...quantityTimes(), ...decisionTimes(), ...queueTimes()] }),
  report: ({ rows }) => ({
    text: [
      tableOf(rows, {
        "": ({ name }) => name,
        time: ({ nanoseconds }) => durationText(nanoseconds),
        target: ({ target }) => target,
      }),
    ],
  }),
});

function durationText(nanoseconds: number): string {
  if (nanoseconds < 1000) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1000).toFixed(2)} µs`;
  return `${(nanoseconds / 1e6).toFixed(2)} ms`;
}
