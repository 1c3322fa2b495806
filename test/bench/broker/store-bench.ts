import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DEFAULT_RETENTION, openLedgerFile } from "@resource-broker/broker/testing";
import { ledgerFrom } from "@resource-broker/domain";
import { COMMIT_VARIANTS } from "./store/commit-variants.ts";
import { printKubernetes } from "./store/kubernetes-bench.ts";
import { sampleBatches } from "./store/sample-batches.ts";

/**
 * What a durable commit costs, on the event loop's thread and off it. Each figure comes from a process of its own, bound
 * to one core as the broker is in the targets (`--cores 2` lets it have two). `--directory` chooses the disk.
 * `--kubernetes sim` or `--kubernetes real` measures the store in Kubernetes objects instead.
 */
const BATCHES: readonly { readonly size: number; readonly count: number }[] = [
  { size: 1, count: 2000 },
  { size: 10, count: 1000 },
  { size: 100, count: 300 },
  { size: 1000, count: 40 },
];
const WARM_UP = 0.1;
const RESTART_RESERVATIONS = 100_000;

interface BenchResult {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** Of all threads, for each reservation. */
  readonly cpuMicros: number;
  /** The longest the event loop stood still. */
  readonly blockedMs: number;
  /** Private memory once the store is open. */
  readonly privateMb: number;
}

async function measure(variant: string, size: number, count: number): Promise<BenchResult> {
  const directory = mkdtempSync(join(option("--directory") ?? tmpdir(), "store-bench-"));
  try {
    const open = COMMIT_VARIANTS[variant];
    if (open === undefined) throw new Error(`no way is called ${variant}`);
    const commit = await open(join(directory, "ledger.db"));
    const batches = sampleBatches(size);
    const run = async (times: number): Promise<number[]> => {
      const latencies: number[] = [];
      for (let done = 0; done < times; done++) {
        const batch = batches.next().value;
        await nextTurn();
        const start = performance.now();
        await commit(batch);
        latencies.push(performance.now() - start);
      }
      return latencies.sort((a, b) => a - b);
    };
    const privateMb = privateMemoryMb();
    await run(Math.ceil(count * WARM_UP));
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const before = process.cpuUsage();
    const latencies = await run(count);
    const { user, system } = process.cpuUsage(before);
    loop.disable();
    const totalMs = latencies.reduce((total, each) => total + each, 0);
    return {
      p50Ms: latencies[count >> 1] ?? Number.NaN,
      p99Ms: latencies[Math.floor(count * 0.99)] ?? Number.NaN,
      perSecond: (size * count * 1000) / totalMs,
      cpuMicros: (user + system) / (size * count),
      blockedMs: loop.max / 1e6,
      privateMb,
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function privateMemoryMb(): number {
  const text = readFileSync("/proc/self/smaps_rollup", "utf8");
  const kilobytes = [...text.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].map(([, amount]) => Number(amount));
  return kilobytes.reduce((total, each) => total + each, 0) / 1024;
}

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

function measureInProcess(variant: string, size: number, count: number): BenchResult {
  const self = fileURLToPath(import.meta.url);
  const rest = process.argv.slice(2);
  const node = [
    process.execPath,
    self,
    "--way",
    variant,
    "--size",
    `${size}`,
    "--count",
    `${count}`,
    ...rest,
  ];
  const cores = option("--cores") === "2" ? "0,1" : "0";
  const { stdout, stderr, status } = spawnSync("taskset", ["-c", cores, ...node], { encoding: "utf8" });
  if (status !== 0) throw new Error(`measuring ${variant} failed: ${stderr}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- printed by our own child process
  return JSON.parse(stdout) as BenchResult;
}

function printTable(): void {
  const columns = [
    "",
    "batch",
    "p50 ms",
    "p99 ms",
    "reservations/s",
    "CPU µs each",
    "loop blocked ms",
    "private MB",
  ];
  console.log(
    `Node ${process.version}, ${option("--cores") ?? 1} core(s), synchronous FULL, decisions of 16 candidates\n`,
  );
  console.log(`| ${columns.join(" | ")} |\n|${columns.map(() => "---|").join("")}`);
  for (const variant of Object.keys(COMMIT_VARIANTS)) {
    for (const { size, count } of BATCHES) {
      const result = measureInProcess(variant, size, count);
      const cells = [
        variant,
        size,
        result.p50Ms.toFixed(2),
        result.p99Ms.toFixed(2),
        Math.round(result.perSecond).toLocaleString("en"),
        result.cpuMicros.toFixed(0),
        result.blockedMs.toFixed(1),
        result.privateMb.toFixed(0),
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
  }
}

/** How long a broker with so many live reservations takes to have them back. */
function printRestart(): void {
  const directory = mkdtempSync(join(option("--directory") ?? tmpdir(), "store-bench-"));
  const file = join(directory, "ledger.db");
  const filling = openLedgerFile(file, DEFAULT_RETENTION);
  const batches = sampleBatches(1000);
  for (let made = 0; made < RESTART_RESERVATIONS; made += 1000) filling.commit(batches.next().value);
  filling.close();
  const start = performance.now();
  const ledger = openLedgerFile(file, DEFAULT_RETENTION);
  const { records } = ledger.read();
  const readMs = performance.now() - start;
  ledgerFrom(records, records.time);
  const builtMs = performance.now() - start;
  const size = (statSync(file).size / 1e6).toFixed(0);
  ledger.close();
  rmSync(directory, { recursive: true });
  console.log(
    `\n${records.reservations.length} reservations, ${size} MB: read and checked in ${readMs.toFixed(0)} ms, ` +
      `the ledger rebuilt after ${builtMs.toFixed(0)} ms (target: ready in 2,000 ms)`,
  );
}

const variant = option("--way");
const kubernetes = option("--kubernetes");
if (kubernetes !== undefined) await printKubernetes(kubernetes);
else if (variant === undefined) {
  printTable();
  printRestart();
} else
  console.log(JSON.stringify(await measure(variant, Number(option("--size")), Number(option("--count")))));
