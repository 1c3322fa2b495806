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
import { startPostgres } from "@resource-broker/testkit";
import { ANY_SEED, campaignProgram } from "../frame/campaign.ts";
import { runCampaign } from "./campaign.ts";
import { PREEMPTING_POLICY } from "./fleet.ts";
import { kubernetesLedger, realApiServer, simulatedApiServer } from "./kubernetes-ledger.ts";
import { oneBroker } from "./one-broker.ts";
import { replicaSet } from "./replica-set.ts";
import { postgresLedger, type SharedLedger } from "./shared-ledger.ts";
import { countsByKind, downTimes } from "./target.ts";

const MINUTE_MS = 60_000;
const FLAGS = {
  kills: 20,
  store: "sqlite",
  replicas: 3,
  "lease-ms": 2000,
  real: false,
  minutes: Number.POSITIVE_INFINITY,
  seed: ANY_SEED,
  program: "",
};

await campaignProgram("chaos:broker", FLAGS, async (flags) => {
  const { kills, store, replicas, "lease-ms": leaseMs, real, minutes, seed } = flags;
  const program = flags.program === "" ? {} : { program: resolve(flags.program) };
  const server = await startServer(store, replicas, real);
  const where = `${store}${real ? ", a real API server" : ""}`;
  const description = server === undefined ? "one broker on sqlite" : `${replicas} replicas on ${where}`;
  console.log(`seed ${seed}: ${description}, 16 clients, 8 providers, up to ${kills} strikes`);
  const { violations, strikes, ...counts } = await runCampaign({
    seed,
    strikes: kills,
    untilMs: Date.now() + minutes * MINUTE_MS,
    newTarget: async (number) =>
      server === undefined
        ? oneBroker({ ...program, isDamaged: true, policy: PREEMPTING_POLICY })
        : replicaSet({
            ledger: await server.newLedger(number),
            leaseMs,
            policy: PREEMPTING_POLICY,
            ...program,
          }),
    print: (line) => console.log(line),
    now: Date.now,
  });
  await server?.dispose();
  const { orders, acknowledged, released, waited, grantedFromQueue, leftQueue, preempted } = counts;
  const byKind = countsByKind(strikes);
  const failoverMs = downTimes(strikes, "kill");
  console.log(
    `${strikes.length} strikes (${describe(byKind)}): ${orders} orders, ${acknowledged} acknowledged, ${released} released`,
  );
  console.log(
    `${waited} waited: ${grantedFromQueue} granted from the queue, ${leftQueue} left it; ${preempted} preempted`,
  );
  console.log(`served again after a kill: ${describe(failoverMs)} ms`);
  return server === undefined
    ? { campaign: "broker-kill", figures: { seed, ...byKind, ...counts }, violations }
    : {
        campaign: "replica-strike",
        figures: { seed, store: where, replicas, leaseMs, failoverMs, ...byKind, ...counts },
        violations,
      };
});

/** What keeps the ledgers of replicas; undefined: one broker keeps its own. */
interface LedgerServer {
  readonly newLedger: (number: number) => Promise<SharedLedger>;
  readonly dispose: () => Promise<void>;
}

async function startServer(
  store: string,
  replicas: number,
  isReal: boolean,
): Promise<LedgerServer | undefined> {
  switch (store) {
    case "sqlite":
      return undefined;
    case "postgres": {
      const postgres = await startPostgres();
      const newLedger = (number: number) => postgresLedger(postgres, { schema: `chaos_${number}`, replicas });
      return { newLedger, dispose: postgres.dispose };
    }
    case "kubernetes": {
      const api = await (isReal ? realApiServer() : simulatedApiServer());
      const newLedger = (number: number) => kubernetesLedger(api, { namespace: `chaos-${number}`, replicas });
      return { newLedger, dispose: api.dispose };
    }
    default:
      console.error("--store is sqlite, postgres or kubernetes");
      return process.exit(2);
  }
}

function describe(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}
