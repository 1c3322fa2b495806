/**
 * `npm run chaos:broker -- --kills 20`: kills a real broker under load and looks for what it had acknowledged. Now and then
 * its ledger is damaged while it is down: it must refuse to start, and gets the whole one back.
 * `--store postgres` strikes replicas on a PostgreSQL of its own instead (`--replicas 3`, `--lease-ms 2000`): leaders are
 * killed, paused, suspended and cut off, the database is restarted; `--kills` is then the number of all strikes. `--store kubernetes`
 * does the same to replicas whose ledger is in a simulated API server, with `--real` in a real kube-apiserver and etcd.
 * `--minutes M` stops earlier, `--seed S` repeats a run's choices, `--program dist/broker.mjs` takes the bundle,
 * `--record` appends the result to docs/campaigns.jsonl.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { recordCampaign, startPostgres } from "@resource-broker/testkit";
import { type CampaignResult, runCampaign } from "./campaign.ts";
import { kubernetesLedger, realApiServer, simulatedApiServer } from "./kubernetes-ledger.ts";
import { oneBroker } from "./one-broker.ts";
import { replicaSet } from "./replica-set.ts";
import { postgresLedger, type SharedLedger } from "./shared-ledger.ts";
import { countsByKind, downTimes, type Target } from "./target.ts";

const MINUTE_MS = 60_000;
const SHOWN_VIOLATIONS = 20;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    store: { type: "string", default: "sqlite" },
    replicas: { type: "string", default: "3" },
    "lease-ms": { type: "string", default: "2000" },
    real: { type: "boolean", default: false },
    minutes: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    program: { type: "string" },
    record: { type: "boolean", default: false },
  },
});
const kills = positive("kills", values.kills);
const seed = positive("seed", values.seed);
const minutes = values.minutes === undefined ? undefined : positive("minutes", values.minutes);
const replicas = positive("replicas", values.replicas);
const leaseMs = positive("lease-ms", values["lease-ms"]);
const program = values.program === undefined ? {} : { program: resolve(values.program) };
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedAt = Date.now();
const server = await startServer();
const where = `${values.store}${values.real ? ", a real API server" : ""}`;
const description = server === undefined ? "one broker on sqlite" : `${replicas} replicas on ${where}`;
console.log(`seed ${seed}: ${description}, 16 clients, 8 providers, up to ${kills} strikes`);
const result = await runCampaign({
  seed,
  strikes: kills,
  ...(minutes === undefined ? {} : { untilMs: startedAt + minutes * MINUTE_MS }),
  newTarget,
  print: (line) => console.log(line),
  now: Date.now,
});
await server?.dispose();
report(result);
if (values.record) await record(result);
process.exit(result.violations.length === 0 ? 0 : 1);

/** What keeps the ledgers of replicas; undefined: one broker keeps its own. */
interface LedgerServer {
  readonly newLedger: (number: number) => Promise<SharedLedger>;
  readonly dispose: () => Promise<void>;
}

async function startServer(): Promise<LedgerServer | undefined> {
  switch (values.store) {
    case "sqlite":
      return undefined;
    case "postgres": {
      const postgres = await startPostgres();
      const newLedger = (number: number) => postgresLedger(postgres, { schema: `chaos_${number}`, replicas });
      return { newLedger, dispose: postgres.dispose };
    }
    case "kubernetes": {
      const api = await (values.real ? realApiServer() : simulatedApiServer());
      const newLedger = (number: number) => kubernetesLedger(api, { namespace: `chaos-${number}`, replicas });
      return { newLedger, dispose: api.dispose };
    }
    default:
      return exitWithUsage("--store is sqlite, postgres or kubernetes");
  }
}

async function newTarget(number: number): Promise<Target> {
  if (server === undefined) return oneBroker({ ...program, isDamaged: true });
  return replicaSet({ ledger: await server.newLedger(number), leaseMs, ...program });
}

function report({ strikes, orders, acknowledged, released, violations }: CampaignResult): void {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(
    `${strikes.length} strikes in ${seconds} s (${describe(countsByKind(strikes))}): ${orders} orders, ` +
      `${acknowledged} acknowledged, ${released} released, ${violations.length} violations`,
  );
  console.log(`served again after a kill: ${describe(downTimes(strikes, "kill"))} ms`);
  for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.error(`VIOLATION: ${violation}`);
  if (violations.length > 0) {
    const store = `--store ${values.store}${values.real ? " --real" : ""} --replicas ${replicas}`;
    const flags = `--kills ${kills} --seed ${seed} ${store}`;
    console.error(`Repeat it with: npm run chaos:broker -- ${flags}`);
  }
}

async function record({ violations, strikes, ...counts }: CampaignResult): Promise<void> {
  const line = {
    campaign: server === undefined ? "broker-kill" : "replica-strike",
    seed,
    ...(server === undefined
      ? {}
      : { store: where, replicas, leaseMs, failoverMs: downTimes(strikes, "kill") }),
    ...countsByKind(strikes),
    ...counts,
    violations: violations.length,
  };
  await recordCampaign(line, { startedAt, endedAt: Date.now() });
}

function describe(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

function positive(name: string, text: string): number {
  const number = Number(text);
  return Number.isFinite(number) && number > 0 ? number : exitWithUsage(`--${name} must be a number above 0`);
}

function exitWithUsage(problem: string): never {
  console.error(problem);
  return process.exit(2);
}
