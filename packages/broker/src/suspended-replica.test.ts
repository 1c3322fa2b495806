import { fakeClock, postgresPrograms, testCertificates, until } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CallOptions, ClientCredentials } from "./interface/http/testing/call.ts";
import { openRawConnection } from "./interface/http/testing/raw-connection.ts";
import { runBroker } from "./interface/http/testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "./interface/http/testing/samples.ts";
import { notLeading } from "./replica.ts";
import { ledgers } from "./store/postgres/testing/ledgers.ts";

const TEN_MINUTES_MS = 600_000;
const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");
const REPLAY: CallOptions = { body: requestOf("1", "1Gi"), headers: { "Idempotency-Key": "once" } };

interface Row {
  readonly name: string;
  readonly as: ClientCredentials;
  readonly target: `${string} /${string}`;
  readonly options?: CallOptions;
  /** What a leader answers, if not 200. */
  readonly led?: number;
}

describe.skipIf(!postgresPrograms().isThere)(
  "on a real PostgreSQL, a leader whose machine was suspended",
  () => {
    const { newLedger, replica } = ledgers();

    /** Leads, and has granted one reservation. */
    async function leading() {
      const ledger = newLedger();
      const clock = fakeClock();
      const store = replica(ledger, { replica: "old", clock });
      const broker = await runBroker({
        store,
        clock,
        certificates: certificates.broker,
        notLeading: () => notLeading(store.leadership),
      });
      onTestFinished(broker.stop);
      const advertisement = { body: advertisementOf("paris"), headers: NEWER_AGENT };
      expect(await broker.call(paris, "POST /api/v1/advertisements", advertisement)).toMatchObject({
        status: 200,
      });
      expect(await broker.call(rome, "POST /api/v1/reservations", REPLAY)).toMatchObject({ status: 201 });
      return { ledger, clock, store, broker };
    }

    /** Its monotonic clock and its timers stood still, the world went on, and another replica leads. */
    async function suspend({ ledger, clock }: Awaited<ReturnType<typeof leading>>): Promise<void> {
      clock.jumpWall(TEN_MINUTES_MS);
      await ledger.expireLease();
      await replica(ledger, { replica: "young" }).open();
    }

    test.each([
      { name: "a list", as: rome, target: "GET /api/v1/reservations" },
      { name: "a replay", as: rome, target: "POST /api/v1/reservations", options: REPLAY },
      {
        name: "a refusal",
        as: rome,
        target: "POST /api/v1/reservations",
        options: { body: requestOf("9000", "1Gi") },
        led: 409,
      },
      { name: "a quote", as: rome, target: "POST /api/v1/quotes", options: { body: requestOf("1", "1Gi") } },
      { name: "a poll for instructions", as: paris, target: "GET /api/v1/instructions" },
      { name: "the clusters", as: ops, target: "GET /api/v1/advertisements" },
      { name: "the audit log", as: ops, target: "GET /api/v1/audit" },
    ] as readonly Row[])(
      "does not answer $name from memory after another one took over",
      async ({ as, target, options = {}, led = 200 }) => {
        const env = await leading();
        const ask = () => env.broker.call(as, target, options);
        expect(await ask()).toMatchObject({ status: led });
        await suspend(env);
        expect(await ask()).toMatchObject({ status: 503, json: { code: "not-leader" } });
      },
    );

    test("opens no event stream after another one took over", async () => {
      const env = await leading();
      const ask = async () => {
        const line = await openRawConnection(env.broker.port, paris);
        onTestFinished(() => void line.socket.destroy());
        return line.ask("/api/v1/instructions?watch=true");
      };
      expect(await ask()).toContain("text/event-stream");
      await suspend(env);
      expect(await ask()).toContain("HTTP/1.1 503");
    });

    test("asks the database at once, and continues when nobody took over", async () => {
      const { clock, store, broker } = await leading();
      clock.jumpWall(TEN_MINUTES_MS);
      expect(store.leadership.state()).toEqual({ role: "unsure" });
      await until("it leads again", async () => store.leadership.state().role === "leader" || undefined);
      expect(await broker.call(rome, "GET /api/v1/reservations")).toMatchObject({ status: 200 });
    });

    test("finds out that it was replaced without waiting for a renewal", async () => {
      const env = await leading();
      const { store } = env;
      await suspend(env);
      await until("it knows", async () => store.leadership.state().role === "deposed" || undefined);
      expect(store.leadership.state()).toEqual({ role: "deposed", leader: "young" });
    });
  },
);
