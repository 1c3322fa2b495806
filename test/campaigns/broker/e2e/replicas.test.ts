import { PATH } from "@resource-broker/contract";
import {
  type BrokerProcess,
  postgresPrograms,
  startPostgres,
  startReplicas,
  testCertificates,
  until,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCampaign } from "../campaign.ts";
import { PREEMPTING_POLICY } from "../fleet.ts";
import { kubernetesLedger, simulatedApiServer } from "../kubernetes-ledger.ts";
import { oneBroker } from "../one-broker.ts";
import { replicaSet } from "../replica-set.ts";
import { postgresLedger } from "../shared-ledger.ts";
import type { Target } from "../target.ts";

/** `SEED=…` repeats the choices of a run. */
const SEED = Number(process.env["SEED"] ?? 20_260_101);
/** Short, so that the tests are; the default is 6 s. */
const LEASE_MS = 2000;
const STANDS_BY = /\[-] leading: standby: the last known leader is replica-\d\nnot ready/;
/** Only guards: real processes on a busy machine take their time. */
const GUARD = { timeout: 900_000 };
const WITHIN_MS = 300_000;

interface Row {
  readonly store: string;
  readonly strikes: number;
  readonly start: () => Promise<Target>;
}

const SQLITE: Row = {
  store: "SQLite",
  strikes: 4,
  start: () => oneBroker({ isDamaged: true, policy: PREEMPTING_POLICY }),
};
const POSTGRES: Row = {
  store: "PostgreSQL",
  strikes: 6,
  start: async () => {
    const server = await startPostgres();
    onTestFinished(server.dispose);
    const ledger = await postgresLedger(server, { schema: "ledger", replicas: 2 });
    const first = ["kill", "suspend", "pause", "cut", "server", "server"] as const;
    return replicaSet({ ledger, leaseMs: LEASE_MS, policy: PREEMPTING_POLICY, first });
  },
};
const KUBERNETES: Row = {
  store: "Kubernetes",
  strikes: 2,
  start: async () => {
    const server = await simulatedApiServer();
    onTestFinished(server.dispose);
    const ledger = await kubernetesLedger(server, { namespace: "ledger", replicas: 2 });
    return replicaSet({ ledger, leaseMs: LEASE_MS, policy: PREEMPTING_POLICY, first: ["kill", "suspend"] });
  },
};
const ROWS = postgresPrograms().isThere ? [SQLITE, POSTGRES, KUBERNETES] : [SQLITE, KUBERNETES];

// The seed is part of every test's name: a failure prints it.
describe.each([SEED])("with seed %i", (seed) => {
  test.each(ROWS)(
    "struck $strikes times, a ledger in $store loses and doubles nothing",
    GUARD,
    async (row) => {
      const { strikes, acknowledged, violations } = await runCampaign({
        seed,
        strikes: row.strikes,
        newTarget: row.start,
        print: () => undefined,
        now: () => performance.now(),
      });
      expect(violations).toEqual([]);
      expect(strikes).toHaveLength(row.strikes);
      expect(acknowledged).toBeGreaterThan(0);
    },
  );
});

test.skipIf(!postgresPrograms().isThere)(
  "the standby says who leads and answers nothing; the leader hands over when it ends",
  GUARD,
  async () => {
    const server = await startPostgres();
    onTestFinished(server.dispose);
    const stores = [server.url(), server.url()];
    const flags = [`--lease-duration=${LEASE_MS}ms`];
    const replicas = await startReplicas({ stores, certificates: await testCertificates(), flags });
    onTestFinished(replicas.dispose);
    const leader = await replicas.leader();
    const standby = replicas.all.find((replica) => replica !== leader) ?? leader;
    // It may have begun a moment after the one that leads, and asks who that is when it serves already.
    await until(
      "the standby says who leads",
      async () => STANDS_BY.test(await readiness(standby)) || undefined,
      WITHIN_MS,
    );
    expect(await readiness(standby, "?exclude=leading")).toBe("ok");
    const client = standby.clientFor("rome");
    const reply = await client.request("GET", PATH.reservations);
    expect(reply).toMatchObject({
      status: 503,
      body: { code: "not-leader", error: expect.stringContaining("replica-") },
    });
    expect(reply.headers["ledger-id"]).toBeUndefined();
    expect(await client.request("GET", PATH.health)).toMatchObject({ status: 200, body: "ok" });

    expect(await leader.stop()).toBe(0);
    expect(await replicas.leader()).toBe(standby);
  },
);

async function readiness({ probePort }: BrokerProcess, query = ""): Promise<string> {
  return (await fetch(`http://127.0.0.1:${probePort}${PATH.readiness}${query}`)).text();
}
