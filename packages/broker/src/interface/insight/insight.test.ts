import type {
  AdvertisementDTO,
  AdvertisementPageDTO,
  AuditPageDTO,
  CapacityHistoryDTO,
  DecisionPageDTO,
  DemandHistoryDTO,
  FlowsDTO,
  QuoteDTO,
  ReservationDTO,
  SpendingDTO,
  TimelineDTO,
} from "@resource-broker/contract";
import { request } from "@resource-broker/domain/testing";
import { memoryDisk } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { clustersOn, HOSTILE } from "../dashboard/testing/clusters.ts";
import { certificates, runningDashboards } from "../dashboard/testing/running-dashboard.ts";
import { requestOf } from "../http/testing/samples.ts";

const start = runningDashboards();
const world = clustersOn(start);
const GI = 1024 ** 3;
const MINUTE_MS = 60_000;
const PARIS_PER_HOUR = 4 * 0.03 + 8.589934592 * 0.004;
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

describe("the list of clusters", () => {
  test("shows how the broker sees each, and the totals of all", async () => {
    const { read, reserve, admin } = await world();
    await reserve();
    const { items, total, totals } = await read<AdvertisementPageDTO>("/api/v1/advertisements?sort=id");
    expect(items.map(({ clusterID }) => clusterID)).toEqual(["paris", "rome", "tokyo"]);
    expect(items[0]).toMatchObject({
      clusterName: HOSTILE,
      resources: { reserved: { cpu: "4", memory: "8Gi" }, available: { cpu: "12", memory: "56Gi" } },
      standing: {
        receivedAt: "2026-01-05T12:00:00.000Z",
        isStale: false,
        price: { cpu: 0.03, memory: 0.004, currency: "EUR" },
        lends: 1,
        borrows: 0,
      },
    });
    expect(total).toBe(3);
    expect(totals).toMatchObject({
      ready: 3,
      live: 1,
      allocatable: { cpu: 48 },
      available: { cpu: 44 },
      reserved: { cpu: 4, memory: 8 * GI },
      currency: "EUR",
    });
    expect(totals?.perHour).toBeCloseTo(PARIS_PER_HOUR, 9);
    // What is hostile in a name comes back as JSON, never as a page.
    const one = await admin.get("/api/v1/advertisements/paris");
    expect(one.headers["content-type"]).toBe("application/json");
    expect((one.json as AdvertisementDTO).clusterName).toBe(HOSTILE);
    expect(await admin.get("/api/v1/advertisements/oslo")).toMatchObject({ status: 404 });
  });

  test("is as before for those who ask as before", async () => {
    const { read } = await world();
    const page = await read<AdvertisementPageDTO>("/api/v1/advertisements?limit=2");
    expect(page).toMatchObject({ items: [{ clusterID: "paris" }, { clusterID: "rome" }], next: "rome" });
    expect(page).not.toHaveProperty("total");
  });
});

describe("the list of reservations", () => {
  test("is filtered by phase and party, counted, and holds a cluster's own only", async () => {
    const { admin, read, reserve, broker } = await world();
    const first = await reserve("rome", requestOf("1", "1Gi", { targetClusterID: "tokyo" }));
    const second = await reserve("tokyo", requestOf("1", "1Gi", { targetClusterID: "paris" }));
    await admin.send(`DELETE /api/v1/reservations/${first.id}`);
    const ids = async (query: string) =>
      (await read<ReservationDTO[]>(`/api/v1/reservations?${query}`)).map(({ id }) => id).sort();
    const both = [first.id, second.id].sort();
    expect(await ids("phase=live")).toEqual([second.id]);
    expect(await ids("phase=Released&phase=live")).toEqual(both);
    expect(await ids("provider=tokyo")).toEqual([first.id]);
    expect(await ids("cluster=tokyo")).toEqual(both);
    expect(await ids(`q=${second.id.slice(4, 14).toUpperCase()}`)).toEqual([second.id]);
    const page = await admin.get("/api/v1/reservations?sort=created&limit=1");
    expect(page.headers["total-count"]).toBe("2");
    expect(page.json).toMatchObject([{ id: expect.any(String), requesterID: expect.any(String) }]);
    expect(await admin.get("/api/v1/reservations?phase=Asleep")).toMatchObject({ status: 400 });
    const own = await broker.call(certificates.cluster("rome"), "GET /api/v1/reservations?sort=id");
    expect(own.headers["total-count"]).toBe("1");
    expect(own.json).toMatchObject([{ id: first.id, endedAt: "2026-01-05T12:00:00.000Z" }]);
  });
});

describe("the timeline of a reservation", () => {
  test("shows how far it is, what it costs so far, both parties and its object", async () => {
    const { read, reserve, broker, time } = await world({ objectsNamespace: "lending" });
    const { id, decisionID } = await reserve();
    await time.advance(MINUTE_MS);
    const paris = certificates.cluster("paris");
    await broker.call(paris, `POST /api/v1/instructions/${id}/ack`, { body: { state: "held" } });
    await time.advance(MINUTE_MS);
    await broker.call(certificates.cluster("rome"), `POST /api/v1/reservations/${id}/activate`);
    await time.advance(28 * MINUTE_MS);
    const timeline = await read<TimelineDTO>(`/api/v1/reservations/${id}/timeline`);
    expect(timeline).toMatchObject({
      reservation: {
        id,
        decisionID,
        status: { phase: "Active", message: "paris lends 4 CPU / 8Gi Memory to rome" },
      },
      requester: { state: "uses it" },
      provider: { state: "holds the capacity", isStale: true },
    });
    expect(timeline.costSoFar).toBeCloseTo(PARIS_PER_HOUR / 2, 9);
    expect(timeline.steps.map(({ step, at }) => `${step} ${at?.slice(11, 19) ?? "-"}`)).toEqual([
      "requested 12:00:00",
      "reserved 12:00:00",
      "told 12:01:00",
      "enforced 12:01:00",
      "active 12:02:00",
      "end -",
    ]);
    expect(timeline.object).toContain(`kind: Reservation\nmetadata:\n  name: ${id}\n  namespace: lending\n`);
    expect(timeline.object).toContain("  phase: Active\n");
  });
});

describe("decisions", () => {
  test("are listed newest first, by outcome and requester", async () => {
    const { read, reserve } = await world();
    const { decisionID } = await reserve();
    await reserve("rome", requestOf("400", "8Gi"));
    const { items } = await read<DecisionPageDTO>("/api/v1/decisions");
    expect(items).toMatchObject([
      { requesterID: "rome", reason: "capacity", asked: "400 CPU / 8Gi Memory", fitted: 0 },
      { id: decisionID, winner: "paris", asked: "4 CPU / 8Gi Memory", considered: 3 },
    ]);
    expect((await read<DecisionPageDTO>("/api/v1/decisions?outcome=refused")).total).toBe(1);
    expect((await read<DecisionPageDTO>("/api/v1/decisions?requester=tokyo")).total).toBe(0);
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
      request: request({ cpu: 1, memoryGi: 1 }),
      reservationId: "rsv-new",
      decisionId: "dec-new",
    });
    const { json } = await (await again.signIn()).get("/api/v1/decisions");
    const { items } = json as DecisionPageDTO;
    expect(items.map(({ asked }) => asked)).toEqual([
      "1 CPU / 1Gi Memory",
      "400 CPU / 8Gi Memory",
      "4 CPU / 8Gi Memory",
    ]);
    expect(items.at(-1)?.id).toBe(decisionID);
  });
});

describe("a quote with other weights", () => {
  const quotes = "POST /api/v1/quotes?requester=rome";

  test("may have another winner; the policy stays", async () => {
    const { admin, broker } = await world({ policy: { ratings: { latency: { paris: 0.1, tokyo: 1 } } } });
    const winner = async (what: string): Promise<string | undefined> =>
      ((await admin.send(what, requestOf())).json as QuoteDTO).decision.winner;
    expect(await winner(quotes)).toBe("paris");
    expect(await winner(`${quotes}&weights=latency:1`)).toBe("tokyo");
    expect(broker.engine.policy.weights).toEqual({ resources: 0.7, cost: 0.3, latency: 0, reliability: 0 });
    expect(broker.engine.commitNumber).toBe(0);
    const rome = certificates.cluster("rome");
    const theirs = await broker.call(rome, "POST /api/v1/quotes?weights=cost:1", { body: requestOf() });
    expect(theirs).toMatchObject({ status: 403 });
  });

  test.each(["nosuch:1,cost:1", "constructor:1", "cost:0", "cost:-1", "cost:x", "cost:"])(
    "%s is refused",
    async (weights) => {
      const { admin } = await world();
      const reply = await admin.send(`${quotes}&weights=${weights}`, requestOf());
      expect(reply).toMatchObject({ status: 400, json: { code: "invalid" } });
    },
  );
});

test("flows: one for each pair, the largest first", async () => {
  const { read, reserve } = await world();
  await reserve("rome", requestOf("1", "1Gi", { targetClusterID: "tokyo" }));
  await reserve("rome", requestOf("2", "4Gi", { targetClusterID: "paris" }));
  await reserve("rome", requestOf("1", "4Gi", { targetClusterID: "paris" }));
  expect(await read<FlowsDTO>("/api/v1/flows?resource=cpu")).toEqual({
    flows: [
      { provider: "paris", requester: "rome", amounts: { cpu: 3, memory: 8 * GI, gpu: 0 }, reservations: 2 },
      { provider: "tokyo", requester: "rome", amounts: { cpu: 1, memory: GI, gpu: 0 }, reservations: 1 },
    ],
    left: 0,
  });
});

test("history and spending: capacity and demand over time, and what was spent", async () => {
  const { read, reserve, time, admin } = await world();
  await reserve();
  await reserve("rome", requestOf("400", "8Gi"));
  await time.advance(30 * MINUTE_MS);
  const fleet = await read<CapacityHistoryDTO>("/api/v1/history/capacity?window=day");
  expect(fleet).toMatchObject({ window: "day", stepMs: 300_000 });
  expect(fleet.points).toHaveLength(288);
  const { points } = await read<CapacityHistoryDTO>("/api/v1/history/capacity?cluster=paris");
  expect(points.filter(({ available }) => available?.cpu === 12)).not.toEqual([]);
  expect(await admin.get("/api/v1/history/capacity?cluster=oslo")).toMatchObject({ status: 404 });
  expect(await admin.get("/api/v1/history/capacity?window=year")).toMatchObject({ status: 400 });
  const demand = await read<DemandHistoryDTO>("/api/v1/history/demand?window=hour");
  expect(demand.refused.map(({ reason, counts }) => [reason, sumOf(counts)])).toEqual([["capacity", 1]]);
  expect(sumOf(demand.granted)).toBe(1);
  const money = await read<SpendingDTO>("/api/v1/spending?window=day");
  const tokyo = 4 * 0.05 + 8.589934592 * 0.004;
  expect(money.spent).toBeCloseTo(PARIS_PER_HOUR / 2, 9);
  expect(money.saved).toBeCloseTo(((PARIS_PER_HOUR + tokyo) / 2 - PARIS_PER_HOUR) / 2, 9);
  expect(money.byRequester).toMatchObject([{ id: "rome", reservations: 1 }]);
});

test("the audit log is read from its end, with what is known of its chain", async () => {
  const { read, reserve, admin } = await world();
  // Beside the line that the ledger's memory begins.
  for (let count = 0; count < 4; count++) await reserve("rome", requestOf("1", "1Gi"));
  const first = await read<AuditPageDTO>("/api/v1/audit?order=desc&limit=3");
  expect(first.items.map(({ sequence }) => sequence)).toEqual([5, 4, 3]);
  expect(first).toMatchObject({ next: "3", chain: { state: "checking" } });
  const second = await read<AuditPageDTO>("/api/v1/audit?order=desc&limit=3&after=3");
  expect(second.items.map(({ sequence }) => sequence)).toEqual([2, 1]);
  expect(second.next).toBeUndefined();
  expect((await read<AuditPageDTO>("/api/v1/audit?order=desc&q=ROME")).items).toHaveLength(4);
  expect(await admin.get("/api/v1/audit?order=desc&after=x")).toMatchObject({ status: 400 });
  expect(await admin.get("/api/v1/audit?q=ROME")).toMatchObject({ status: 400 });
});
