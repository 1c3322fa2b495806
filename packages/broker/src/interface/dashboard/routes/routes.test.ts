import type {
  DecisionDTO,
  UiAudit,
  UiCluster,
  UiDecisions,
  UiFleet,
  UiFlows,
  UiHistory,
  UiMoneyReport,
  UiQuote,
  UiReservationDetail,
  UiReservations,
  UiUnmet,
} from "@resource-broker/contract";
import { resourceVector } from "@resource-broker/domain";
import { memoryDisk } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { NEWER_AGENT, requestOf } from "../../http/testing/samples.ts";
import { certificates, type DashboardParts, runningDashboards } from "../testing/running-dashboard.ts";

const start = runningDashboards();
const MINUTE_MS = 60_000;
const HOSTILE = `<img src=x onerror=alert(1)>"'&</script>`;
const GI = 1024 ** 3;

async function world(parts: DashboardParts = {}) {
  const running = await start(parts);
  await running.advertise("rome", { cost: { cpuCost: "0.1", memoryCost: "0", currency: "EUR" } });
  await running.advertise("paris", {
    clusterName: HOSTILE,
    labels: { "topology.kubernetes.io/region": "eu-west", tier: "gold" },
    cost: { cpuCost: "0.03", memoryCost: "0.004", currency: "EUR" },
    gpus: [{ model: "A100", count: 2 }],
    liqo: { clusterID: "liqo-paris", version: "v1.0.1" },
  });
  await running.advertise("tokyo", { cost: { cpuCost: "0.05", memoryCost: "0.004", currency: "EUR" } });
  const reserve = async (who = "rome", body: unknown = requestOf("4", "8Gi", { duration: "1h" })) => {
    const reply = await running.broker.call(certificates.cluster(who), "POST /api/v1/reservations", {
      body,
      headers: NEWER_AGENT,
    });
    return reply.json as { readonly id: string; readonly decisionID: string };
  };
  const admin = await running.signIn();
  const read = async <T>(path: string): Promise<T> => {
    const { status, json, text } = await admin.get(path);
    expect({ status, text }).toMatchObject({ status: 200 });
    return json as T;
  };
  return { ...running, admin, reserve, read };
}

describe("the fleet", () => {
  test("shows every cluster with its capacity, price and region, and the totals", async () => {
    const { read, reserve } = await world();
    await reserve();
    const fleet = await read<UiFleet>("/ui/clusters?sort=id");
    expect(fleet.rows.map(({ id }) => id)).toEqual(["paris", "rome", "tokyo"]);
    expect(fleet.rows[0]).toEqual({
      id: "paris",
      name: HOSTILE,
      region: "eu-west",
      labels: { "topology.kubernetes.io/region": "eu-west", tier: "gold" },
      capacity: {
        allocatable: { cpu: 16, memory: 64 * GI, gpu: 0 },
        allocated: { cpu: 0, memory: 0, gpu: 0 },
        reserved: { cpu: 4, memory: 8 * GI, gpu: 0 },
        available: { cpu: 12, memory: 56 * GI, gpu: 0 },
      },
      gpus: [{ model: "A100", count: 2 }],
      heardAt: "2026-01-05T12:00:00.000Z",
      isStale: false,
      isCordoned: false,
      conditions: [],
      price: { cpu: 0.03, memory: 0.004, gpu: null, currency: "EUR" },
      liqoID: "liqo-paris",
      lends: 1,
      borrows: 0,
    });
    expect(fleet).toMatchObject({ total: 3, offset: 0, commit: 1 });
    expect(fleet.totals).toMatchObject({
      clusters: 3,
      ready: 3,
      live: 1,
      capacity: { allocatable: { cpu: 48 }, available: { cpu: 44 }, reserved: { cpu: 4 } },
      spendPerHour: { currency: "EUR" },
    });
    expect(fleet.totals.spendPerHour.amount).toBeCloseTo(4 * 0.03 + 8.589934592 * 0.004, 9);
  });

  test("what is hostile in a name comes back as JSON, never as a page", async () => {
    const { admin } = await world();
    const reply = await admin.get("/ui/clusters/paris");
    expect(reply.headers["content-type"]).toBe("application/json");
    expect((reply.json as UiCluster).name).toBe(HOSTILE);
  });

  test("a silent cluster is stale, and lends nothing to the totals", async () => {
    const { read, time, advertise } = await world();
    await time.advance(3 * MINUTE_MS);
    await advertise("rome");
    const fleet = await read<UiFleet>("/ui/clusters?sort=heard&order=desc");
    expect(fleet.rows.map(({ id, isStale }) => ({ id, isStale }))).toEqual([
      { id: "rome", isStale: false },
      { id: "paris", isStale: true },
      { id: "tokyo", isStale: true },
    ]);
    expect(fleet.rows[1]?.conditions).toMatchObject([{ type: "Stale", since: "2026-01-05T12:02:00.000Z" }]);
    expect(fleet.totals).toMatchObject({ clusters: 3, ready: 1, capacity: { allocatable: { cpu: 16 } } });
    expect((await read<UiFleet>("/ui/clusters?state=stale")).total).toBe(2);
  });

  test.each(["sort=colour", "order=up", "state=asleep", "limit=0", "limit=201", "limit=x", "offset=-1"])(
    "?%s is refused",
    async (query) => {
      const { admin } = await world();
      expect(await admin.get(`/ui/clusters?${query}`)).toMatchObject({
        status: 400,
        json: { code: "invalid" },
      });
    },
  );

  test("an unknown cluster is not found", async () => {
    const { admin } = await world();
    expect(await admin.get("/ui/clusters/oslo")).toMatchObject({ status: 404 });
  });

  test("who lends to whom: one edge for each pair, the largest first", async () => {
    const { read, reserve } = await world();
    await reserve("rome", requestOf("1", "1Gi", { targetClusterID: "tokyo" }));
    await reserve("rome", requestOf("2", "4Gi", { targetClusterID: "paris" }));
    await reserve("rome", requestOf("1", "4Gi", { targetClusterID: "paris" }));
    const flows = await read<UiFlows>("/ui/flows?resource=cpu");
    expect(flows.edges).toEqual([
      { provider: "paris", requester: "rome", amounts: { cpu: 3, memory: 8 * GI, gpu: 0 }, reservations: 2 },
      { provider: "tokyo", requester: "rome", amounts: { cpu: 1, memory: GI, gpu: 0 }, reservations: 1 },
    ]);
    expect(flows.nodes).toEqual([
      {
        id: "paris",
        lends: { cpu: 3, memory: 8 * GI, gpu: 0 },
        borrows: { cpu: 0, memory: 0, gpu: 0 },
        isStale: false,
      },
      {
        id: "rome",
        lends: { cpu: 0, memory: 0, gpu: 0 },
        borrows: { cpu: 4, memory: 9 * GI, gpu: 0 },
        isStale: false,
      },
      {
        id: "tokyo",
        lends: { cpu: 1, memory: GI, gpu: 0 },
        borrows: { cpu: 0, memory: 0, gpu: 0 },
        isStale: false,
      },
    ]);
    expect(flows).toMatchObject({ left: 0, commit: 3 });
  });
});

describe("a reservation", () => {
  test("shows how far it is, what it costs so far, both parties, its object and its commands", async () => {
    const { read, reserve, broker, time } = await world({ objectsNamespace: "lending" });
    const { id, decisionID } = await reserve();
    await time.advance(MINUTE_MS);
    const paris = certificates.cluster("paris");
    await broker.call(paris, `POST /api/v1/instructions/${id}/ack`, { body: { state: "held" } });
    await time.advance(MINUTE_MS);
    await broker.call(certificates.cluster("rome"), `POST /api/v1/reservations/${id}/activate`);
    await time.advance(28 * MINUTE_MS);
    const detail = await read<UiReservationDetail>(`/ui/reservations/${id}`);
    const perHour = 4 * 0.03 + 8.589934592 * 0.004;
    expect(detail).toMatchObject({
      id,
      requester: "rome",
      provider: "paris",
      phase: "Active",
      decisionID,
      message: "paris lends 4 CPU / 8Gi Memory to rome",
      expiresAt: "2026-01-05T13:00:00.000Z",
      used: null,
      parties: { requester: { state: "uses it" }, provider: { state: "holds the capacity", isStale: true } },
    });
    expect(detail.costSoFar?.amount).toBeCloseTo(perHour / 2, 9);
    expect(detail.timeline.map(({ step, at }) => `${step} ${at?.slice(11, 19) ?? "-"}`)).toEqual([
      "requested 12:00:00",
      "reserved 12:00:00",
      "told 12:01:00",
      "enforced 12:01:00",
      "active 12:02:00",
      "end -",
    ]);
    expect(detail.timeline.at(-1)?.text).toBe("expires 2026-01-05T13:00:00.000Z");
    expect(detail.yaml).toContain(`kind: Reservation\nmetadata:\n  name: ${id}\n  namespace: lending\n`);
    expect(detail.yaml).toContain("  phase: Active\n");
    expect(detail.commands.map(({ line }) => line)).toEqual([
      `brokerctl describe reservation ${id} --broker https://127.0.0.1:8443`,
      `kubectl --namespace lending get reservations.broker.fluidos.eu ${id} --output yaml`,
      `brokerctl explain ${id} --broker https://127.0.0.1:8443`,
      `brokerctl release ${id} --broker https://127.0.0.1:8443`,
    ]);
  });

  test("says what is waited for", async () => {
    const { read, reserve } = await world();
    const { id } = await reserve("rome", requestOf());
    const { timeline, parties } = await read<UiReservationDetail>(`/ui/reservations/${id}`);
    expect(timeline.slice(2).map(({ at, text }) => ({ at, text }))).toEqual([
      { at: null, text: "paris is told as soon as it calls" },
      { at: null, text: "waits for paris to say that it holds it" },
      { at: null, text: "waits for rome to use it" },
      { at: null, text: "lasts until it is released" },
    ]);
    expect(parties).toMatchObject({
      requester: { state: "has not said yet that it uses it" },
      provider: { state: "has not confirmed yet" },
    });
  });

  test("knows when its provider confirmed also after a restart: the audit log knows", async () => {
    const disk = memoryDisk();
    const { reserve, broker, time, stop } = await world({ disk });
    const { id } = await reserve();
    await time.advance(1000);
    const paris = certificates.cluster("paris");
    await broker.call(paris, `POST /api/v1/instructions/${id}/ack`, { body: { state: "held" } });
    await stop();
    const again = await start({ time, disk });
    const browser = await again.signIn();
    const detail = (await browser.get(`/ui/reservations/${id}`)).json as UiReservationDetail;
    expect(detail.timeline[3]).toMatchObject({ step: "enforced", at: "2026-01-05T12:00:01.000Z" });
  });

  test("is released by an admin, who is named in the log", async () => {
    const { admin, reserve, broker, read } = await world();
    const { id } = await reserve();
    const done = await admin.send(`POST /ui/reservations/${id}/release`);
    expect(done).toMatchObject({
      status: 200,
      json: { message: `${id} is released: paris gets 4 CPU / 8Gi Memory back when its guests are gone.` },
    });
    expect(broker.engine.ledger.reservations.get(id)).toMatchObject({
      phase: "Released",
      reason: "ReleasedByAdmin",
    });
    expect((await read<{ rows: unknown[] }>("/ui/audit")).rows[0]).toMatchObject({
      actor: "ops",
      action: "release",
      subject: id,
    });
    const detail = await read<UiReservationDetail>(`/ui/reservations/${id}`);
    expect(detail.commands.map(({ title }) => title)).not.toContain("End it");
    expect(await admin.send("POST /ui/reservations/rsv-none/release")).toMatchObject({ status: 404 });
  });

  test("lists are filtered by phase and party", async () => {
    const { admin, read, reserve } = await world();
    const first = await reserve("rome", requestOf("1", "1Gi", { targetClusterID: "tokyo" }));
    const second = await reserve("tokyo", requestOf("1", "1Gi", { targetClusterID: "paris" }));
    await admin.send(`POST /ui/reservations/${first.id}/release`);
    const ids = async (query: string) =>
      (await read<UiReservations>(`/ui/reservations?${query}`)).rows.map(({ id }) => id).sort();
    expect(await ids("phase=live")).toEqual([second.id]);
    expect(await ids("phase=Released")).toEqual([first.id]);
    expect(await ids("phase=Released&phase=live")).toEqual([first.id, second.id].sort());
    expect(await ids("provider=tokyo")).toEqual([first.id]);
    expect(await ids("cluster=tokyo")).toEqual([first.id, second.id].sort());
    expect(await ids(`q=${second.id.slice(4, 14).toUpperCase()}`)).toEqual([second.id]);
    expect(await admin.get("/ui/reservations?phase=Asleep")).toMatchObject({ status: 400 });
  });
});

describe("a cluster", () => {
  test("is cordoned with a reason and uncordoned, by the admin who made the link", async () => {
    const { admin, broker, read } = await world();
    const cordoned = await admin.send("POST /ui/clusters/paris/cordon", { reason: HOSTILE });
    expect(cordoned.json).toEqual({ message: "paris lends nothing new; what it lends already stays." });
    expect(broker.engine.ledger.accounts.get("paris")?.cordon).toMatchObject({ by: "ops", why: HOSTILE });
    const [condition] = (await read<UiCluster>("/ui/clusters/paris")).conditions;
    expect(condition).toMatchObject({ type: "Cordoned", message: expect.stringContaining(HOSTILE) });
    expect((await admin.send("POST /ui/clusters/paris/uncordon")).json).toEqual({
      message: "paris lends again.",
    });
    expect(await admin.send("POST /ui/clusters/oslo/cordon")).toMatchObject({ status: 404 });
    expect(await admin.send("POST /ui/clusters/paris/cordon", { reason: 7 })).toMatchObject({ status: 400 });
  });
});

describe("insight", () => {
  test("shows capacity and demand over time, and what was spent", async () => {
    const { read, reserve, time, admin } = await world();
    await reserve();
    await reserve("rome", requestOf("400", "8Gi"));
    await time.advance(30 * MINUTE_MS);
    const fleet = await read<UiHistory>("/ui/history?window=day");
    expect(fleet).toMatchObject({ window: "day", stepMs: 300_000 });
    expect(fleet.points).toHaveLength(288);
    expect((await read<UiHistory>("/ui/history?cluster=paris")).points.filter((each) => each)).not.toEqual(
      [],
    );
    expect(await admin.get("/ui/history?cluster=oslo")).toMatchObject({ status: 404 });
    expect(await admin.get("/ui/history?window=year")).toMatchObject({ status: 400 });
    const unmet = await read<UiUnmet>("/ui/unmet?window=hour");
    expect(unmet.refused.map(({ reason, counts }) => [reason, sumOf(counts)])).toEqual([["capacity", 1]]);
    expect(sumOf(unmet.granted)).toBe(1);
    const money = await read<UiMoneyReport>("/ui/money?window=day");
    const paris = 4 * 0.03 + 8.589934592 * 0.004;
    const tokyo = 4 * 0.05 + 8.589934592 * 0.004;
    expect(money.spent).toBeCloseTo(paris / 2, 9);
    expect(money.saved).toBeCloseTo(((paris + tokyo) / 2 - paris) / 2, 9);
    expect(money.byRequester).toMatchObject([{ id: "rome", reservations: 1 }]);
  });

  test("the log is read from its end, with what is known of its chain", async () => {
    const { read, reserve, time, admin } = await world();
    for (let count = 0; count < 5; count++) await reserve("rome", requestOf("1", "1Gi"));
    await read<UiAudit>("/ui/audit");
    await time.advance(1000);
    const first = await read<UiAudit>("/ui/audit?limit=3");
    expect(first.rows.map(({ sequence }) => sequence)).toEqual([5, 4, 3]);
    expect(first).toMatchObject({ before: 3, verified: { state: "whole", lines: 5 } });
    const second = await read<UiAudit>("/ui/audit?limit=3&before=3");
    expect(second.rows.map(({ sequence }) => sequence)).toEqual([2, 1]);
    expect(second.before).toBeNull();
    expect((await read<UiAudit>("/ui/audit?q=ROME")).rows).toHaveLength(5);
    expect(await admin.get("/ui/audit?before=x")).toMatchObject({ status: 400 });
  });
});

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

describe("decisions", () => {
  test("are listed newest first and explained in full", async () => {
    const { read, reserve } = await world({ policy: { disclosure: "reasons" } });
    const { decisionID } = await reserve();
    await reserve("rome", requestOf("400", "8Gi"));
    const list = await read<UiDecisions>("/ui/decisions");
    expect(list.rows).toMatchObject([
      { requester: "rome", winner: null, reason: "capacity", asked: "400 CPU / 8Gi Memory", fitted: 0 },
      { id: decisionID, winner: "paris", reason: null, asked: "4 CPU / 8Gi Memory", considered: 3 },
    ]);
    expect((await read<UiDecisions>("/ui/decisions?outcome=refused")).total).toBe(1);
    expect((await read<UiDecisions>("/ui/decisions?requester=tokyo")).total).toBe(0);
    const why = await read<DecisionDTO>(`/ui/decisions/${decisionID}`);
    expect(why.candidates.map(({ clusterID }) => clusterID)).toEqual(["paris", "tokyo", "rome"]);
    expect(why.candidates[0]?.parts).toHaveProperty("resources");
  });

  test("from before a restart are listed too, each once and in the order they fell", async () => {
    const disk = memoryDisk();
    const first = await world({ disk });
    const { decisionID } = await first.reserve();
    await first.reserve("rome", requestOf("400", "8Gi"));
    await first.stop();
    const again = await start({ disk });
    await again.advertise("paris");
    await again.advertise("rome");
    // Not over the API: the bytes that ids are made of begin anew with each broker of a test.
    await again.broker.engine.submit({
      kind: "reserve",
      requester: "rome",
      request: {
        resources: resourceVector({ cpuMillis: 1000, memoryBytes: GI }),
        priority: 0,
        constraints: {},
        tier: "on-demand",
      },
      reservationId: "rsv-new",
      decisionId: "dec-new",
    });
    const { json } = await (await again.signIn()).get("/ui/decisions");
    const { rows } = json as UiDecisions;
    expect(rows.map(({ asked }) => asked)).toEqual([
      "1 CPU / 1Gi Memory",
      "400 CPU / 8Gi Memory",
      "4 CPU / 8Gi Memory",
    ]);
    expect(rows.at(-1)?.id).toBe(decisionID);
  });

  test.each(["nosuch", "constructor", "toString"])(
    "a weight for %s is refused: it would count for nothing",
    async (name) => {
      const { admin } = await world();
      const body = { requesterID: "rome", request: requestOf(), weights: { [name]: 1, cost: 1 } };
      const { status, text } = await admin.send("POST /ui/quotes", body);
      expect(status).toBe(400);
      expect(text).toContain(`${name} is none of resources, cost`);
    },
  );

  test("what would happen agrees with what happens then, and writes nothing", async () => {
    const { admin, reserve, broker } = await world();
    const before = broker.engine.commitNumber;
    const reply = await admin.send("POST /ui/quotes", { requesterID: "rome", request: requestOf() });
    const quote = reply.json as UiQuote;
    expect(quote).toMatchObject({ fits: true, policyWeights: { resources: 0.7, cost: 0.3 } });
    expect(broker.engine.commitNumber).toBe(before);
    const made = await reserve("rome", requestOf());
    expect(broker.engine.ledger.reservations.get(made.id)?.provider).toBe(quote.decision.winner);
  });

  test("other weights may change the winner, and only in the quote", async () => {
    const { admin, broker } = await world({
      policy: { ratings: { latency: { paris: 0.1, tokyo: 1 } } },
    });
    const winner = async (weights?: object): Promise<string | undefined> => {
      const body = { requesterID: "rome", request: requestOf(), ...(weights && { weights }) };
      return ((await admin.send("POST /ui/quotes", body)).json as UiQuote).decision.winner;
    };
    expect(await winner()).toBe("paris");
    expect(await winner({ latency: 1 })).toBe("tokyo");
    expect(broker.engine.policy.weights).toEqual({ resources: 0.7, cost: 0.3, latency: 0, reliability: 0 });
  });

  test.each([
    { name: "a cluster that nobody knows", body: { requesterID: "oslo", request: requestOf() }, status: 404 },
    { name: "no amounts", body: { requesterID: "rome", request: {} }, status: 400 },
    {
      name: "weights that weigh nothing",
      body: { requesterID: "rome", request: requestOf(), weights: { cost: 0 } },
      status: 400,
    },
    {
      name: "a weight below zero",
      body: { requesterID: "rome", request: requestOf(), weights: { cost: -1 } },
      status: 400,
    },
    { name: "no body", body: undefined, status: 400 },
  ])("a quote with $name is refused", async ({ body, status }) => {
    const { admin } = await world();
    expect(await admin.send("POST /ui/quotes", body)).toMatchObject({ status });
  });

  test("a viewer may ask what would happen", async () => {
    const { signIn } = await world();
    const viewer = await signIn("viewer");
    const body = { requesterID: "rome", request: requestOf() };
    expect(await viewer.send("POST /ui/quotes", body)).toMatchObject({ status: 200 });
  });
});
