import { fakeTime, postgresPrograms, testCertificates, until } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CallOptions } from "./interface/http/testing/call.ts";
import { type RunningBroker, runBroker } from "./interface/http/testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "./interface/http/testing/samples.ts";
import { notLeading } from "./replica.ts";
import { ledgers } from "./store/postgres/testing/ledgers.ts";

const TEN_MINUTES_MS = 600_000;
const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");
const REPLAY: CallOptions = { body: requestOf("1", "1Gi"), headers: { "Idempotency-Key": "once" } };

describe.skipIf(!postgresPrograms().isThere)(
  "on a real PostgreSQL, a leader whose machine was suspended",
  () => {
    const { newLedger, replica } = ledgers();

    /** Leads, and has granted one reservation. */
    async function leading() {
      const ledger = newLedger();
      const machine = fakeTime();
      const store = replica(ledger, { replica: "old", machine });
      const broker = await runBroker({
        store,
        machine,
        certificates: certificates.broker,
        notLeading: () => notLeading(store.leadership),
      });
      onTestFinished(broker.stop);
      const advertisement = { body: advertisementOf("paris"), headers: NEWER_AGENT };
      expect(await broker.call(paris, "POST /api/v1/advertisements", advertisement)).toMatchObject({
        status: 200,
      });
      expect(await broker.call(rome, "POST /api/v1/reservations", REPLAY)).toMatchObject({ status: 201 });
      return { ledger, machine, store, broker };
    }

    /** Its monotonic clock and its timers stood still, the world went on, and another replica leads. */
    async function suspended(): Promise<RunningBroker> {
      const { ledger, machine, broker } = await leading();
      machine.jumpWall(TEN_MINUTES_MS);
      await ledger.expireLease();
      await replica(ledger, { replica: "young" }).open();
      return broker;
    }

    test.each([
      { name: "a list", as: rome, target: "GET /api/v1/reservations", options: {} },
      { name: "a replay", as: rome, target: "POST /api/v1/reservations", options: REPLAY },
      {
        name: "a refusal",
        as: rome,
        target: "POST /api/v1/reservations",
        options: { body: requestOf("9000", "1Gi") },
      },
      { name: "a quote", as: rome, target: "POST /api/v1/quotes", options: { body: requestOf("1", "1Gi") } },
      { name: "a poll for instructions", as: paris, target: "GET /api/v1/instructions", options: {} },
      { name: "an event stream", as: paris, target: "GET /api/v1/events", options: {} },
      { name: "the clusters", as: ops, target: "GET /api/v1/clusters", options: {} },
      { name: "the audit log", as: ops, target: "GET /api/v1/audit", options: {} },
    ] as const)(
      "does not answer $name from memory after another one took over",
      async ({ as, target, options }) => {
        const broker = await suspended();
        expect(await broker.call(as, target, options)).toMatchObject({
          status: 503,
          json: { code: "not-leader" },
        });
      },
    );

    test("asks the database at once, and goes on when nobody took over", async () => {
      const { machine, store, broker } = await leading();
      machine.jumpWall(TEN_MINUTES_MS);
      expect(store.leadership.standing()).toEqual({ role: "unsure" });
      await until("it leads again", async () => store.leadership.standing().role === "leader" || undefined);
      expect(await broker.call(rome, "GET /api/v1/reservations")).toMatchObject({ status: 200 });
    });

    test("finds out that it was replaced without waiting for a renewal", async () => {
      const { ledger, machine, store } = await leading();
      machine.jumpWall(TEN_MINUTES_MS);
      await ledger.expireLease();
      await replica(ledger, { replica: "young" }).open();
      await until("it knows", async () => store.leadership.standing().role === "deposed" || undefined);
      expect(store.leadership.standing()).toEqual({ role: "deposed", leader: "young" });
    });
  },
);
