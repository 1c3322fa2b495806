import { PATH } from "@resource-broker/contract";
import {
  type BrokerProcess,
  type FaultyProxy,
  type PostgresServer,
  postgresPrograms,
  type Replicas,
  seededRandom,
  startFaultyProxy,
  startPostgres,
  startReplicas,
  testCertificates,
  until as untilWithin,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ChaosFleet, createFleet } from "../fleet.ts";
import { type LoadClients, startLoadClients } from "../load-clients.ts";
import { snapshotFromApi, snapshotFromPostgres } from "../read-snapshot.ts";
import { checkSnapshot, violations } from "../violations.ts";

/** `SEED=…` repeats the choices of a run. */
const SEED = Number(process.env["SEED"] ?? 20_260_101);
/** Short, so that the tests are; the default is 6 s. */
const LEASE_MS = 2000;
const LANES = 4;
const STANDS_BY = /\[-] leading: standby: the last known leader is replica-\d\nnot ready/;
/** Only a guard: real processes on a busy machine take their time. */
const GUARD = { timeout: 900_000 };
/** As long as a leader is waited for: each of these waits for processes that start, or for a lease to run out. */
const WITHIN_MS = 300_000;
const until: typeof untilWithin = (what, look) => untilWithin(what, look, WITHIN_MS);

// The seed is part of every test's name: a failure prints it.
describe.skipIf(!postgresPrograms().isThere).each([SEED])(
  "two replicas on one database, with seed %i",
  (seed) => {
    let server: PostgresServer;
    let schemas = 0;
    beforeAll(async () => {
      server = await startPostgres();
    }, GUARD.timeout);
    afterAll(() => server.dispose());

    test(
      "the standby says who leads and answers nothing; the leader hands over when it ends",
      GUARD,
      async () => {
        const { replicas } = await begin();
        const leader = await replicas.leader();
        const standby = otherThan(leader, replicas);
        // It may have begun a moment after the one that leads, and asks who that is when it serves already.
        await until(
          "the standby is well",
          async () => (await readiness(standby, "?exclude=leading")) === "ok" || undefined,
        );
        await until(
          "the standby says who leads",
          async () => STANDS_BY.test(await readiness(standby)) || undefined,
        );
        const reply = await standby.clientFor("rome").request("GET", PATH.reservations);
        expect(reply).toMatchObject({
          status: 503,
          body: { code: "not-leader", error: expect.stringContaining("replica-") },
        });
        expect(reply.headers["ledger-id"]).toBeUndefined();
        expect(await standby.clientFor("rome").request("GET", PATH.health)).toMatchObject({
          status: 200,
          body: "ok",
        });

        expect(await leader.stop()).toBe(0);
        expect(await replicas.leader()).toBe(standby);
      },
    );

    test(
      "the leader is killed under load: the standby has every acknowledged reservation, once",
      GUARD,
      async () => {
        const play = await begin();
        for (let kill = 1; kill <= 2; kill++) {
          const leader = await play.replicas.leader();
          await play.clients.nextAcknowledgement();
          await leader.kill("SIGKILL");
          const killedAt = performance.now();
          await play.replicas.leader();
          const failoverMs = performance.now() - killedAt;
          process.stderr.write(`failover after ${failoverMs.toFixed(0)} ms with a lease of ${LEASE_MS} ms\n`);
          await play.fleet.advertise();
          await play.clients.nextAcknowledgement();
        }
        expect(await end(play)).toEqual([]);
      },
    );

    test(
      "the leader is paused past its lease: it commits nothing when it continues, and ends",
      GUARD,
      async () => {
        const play = await begin();
        const leader = await play.replicas.leader();
        await play.clients.nextAcknowledgement();
        const { pid = 0 } = leader;
        process.kill(pid, "SIGSTOP");
        await until("another one leads", async () => (await play.replicas.leader()) !== leader || undefined);
        await play.fleet.advertise();
        await play.clients.nextAcknowledgement();
        // Whatever it is asked first when it wakes up: it must not answer from what it remembers.
        const asked = leader.clientFor("late").request("GET", PATH.reservations, { timeoutMs: 60_000 });
        const answered = asked.then(
          ({ status }) => status,
          () => "no answer",
        );
        process.kill(pid, "SIGCONT");
        expect([503, "no answer"]).toContain(await answered);
        await untilDeposed(leader);
        await until("it has ended", async () => leader.pid !== pid || undefined);
        expect(await end(play)).toEqual([]);
      },
    );

    test.each(["stop", "kill"] as const)(
      "the database goes down (%s) and comes back under load: commits continue, and none is lost or doubled",
      GUARD,
      async (how) => {
        const play = await begin();
        for (let time = 0; time < 2; time++) {
          await play.clients.nextAcknowledgement();
          await server[how]();
          await server.start();
          await play.replicas.leader();
          await play.fleet.advertise();
          await play.clients.nextAcknowledgement();
        }
        expect(await end(play)).toEqual([]);
      },
    );

    test(
      "the database hangs for longer than a lease: nobody answers, and then one continues",
      GUARD,
      async () => {
        const play = await begin();
        await play.clients.nextAcknowledgement();
        await server.pause();
        onTestFinished(server.resume);
        const unready = async (): Promise<boolean> =>
          (await Promise.all(play.replicas.all.map((each) => readiness(each)))).every((text) =>
            text.endsWith("not ready"),
          );
        await until("nobody is ready", async () => (await unready()) || undefined);
        await server.resume();
        await play.replicas.leader();
        await play.fleet.advertise();
        await play.clients.nextAcknowledgement();
        expect(await end(play)).toEqual([]);
      },
    );

    test(
      "the leader's way to the database is cut, again and again: every outcome is settled",
      GUARD,
      async () => {
        const proxies = await Promise.all([0, 1].map(() => startFaultyProxy(server)));
        const play = await begin(proxies);
        for (let cut = 0; cut < 10; cut++) {
          await play.clients.nextAcknowledgement();
          for (const proxy of proxies) proxy.cut();
        }
        // Nothing comes through, and nobody is told: only time shows it.
        const leader = await play.replicas.leader();
        proxies[play.replicas.all.indexOf(leader)]?.pause();
        await until(
          "the other one leads",
          async () => (await play.replicas.leader()) !== leader || undefined,
        );
        await play.fleet.advertise();
        await play.clients.nextAcknowledgement();
        for (const proxy of proxies) proxy.resume();
        await untilDeposed(leader);
        expect(await end(play)).toEqual([]);
      },
    );

    async function begin(proxies: readonly FaultyProxy[] = []): Promise<Run> {
      const schema = `play_${schemas++}`;
      const stores = [0, 1].map((index) => {
        const proxy = proxies[index];
        return `${server.url(proxy === undefined ? {} : { port: proxy.port })}?schema=${schema}`;
      });
      const flags = [`--lease-duration=${LEASE_MS}ms`];
      const replicas = await startReplicas({ stores, certificates: await testCertificates(), flags });
      onTestFinished(async () => {
        await replicas.dispose();
        for (const proxy of proxies) await proxy.close();
      });
      await replicas.leader();
      const provider = { cpu: 64, memoryGi: 256 };
      const fleet = createFleet(replicas, { requesters: 16, providers: 8, provider, lanes: LANES });
      await fleet.advertise();
      onTestFinished(fleet.keepFresh());
      const clients = startLoadClients({
        clients: fleet.requesters,
        random: seededRandom(seed),
        lanes: LANES,
      });
      onTestFinished(clients.stop);
      return { replicas, fleet, clients, store: `${server.url()}?schema=${schema}` };
    }
  },
);

interface Run {
  readonly replicas: Replicas;
  readonly fleet: ChaosFleet;
  readonly clients: LoadClients;
  readonly store: string;
}

/** Compares what the clients were told with the API, then with the database that nobody uses any more. */
async function end({ replicas, fleet, clients, store }: Run): Promise<string[]> {
  await clients.stop();
  const read = () => snapshotFromApi(replicas.admin(), fleet.requesters);
  const { problems: overApi } = await checkSnapshot(clients.requests, read);
  await replicas.stop();
  const inDatabase = violations(clients.requests, await snapshotFromPostgres(store));
  const isIdle = clients.requests.every(({ acknowledged }) => acknowledged === undefined);
  return [...clients.problems, ...overApi, ...inDatabase, ...(isIdle ? ["nothing was acknowledged"] : [])];
}

function otherThan(leader: BrokerProcess, { all }: Replicas): BrokerProcess {
  const other = all.find((replica) => replica !== leader);
  if (other === undefined) throw new Error("there is only one replica");
  return other;
}

/** It says so, and ends. */
async function untilDeposed(replica: BrokerProcess): Promise<void> {
  const isLogged = async (): Promise<boolean> =>
    (await replica.logLines()).some((line) => /another replica leads now: replica-\d/.test(line));
  await until("it knows that it was replaced", async () => (await isLogged()) || undefined);
}

async function readiness({ probePort }: BrokerProcess, query = ""): Promise<string> {
  return (await fetch(`http://127.0.0.1:${probePort}${PATH.readiness}${query}`)).text();
}
