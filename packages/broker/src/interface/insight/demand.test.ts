import type { DemandDTO, DemandHistoryDTO, RefusedPageDTO } from "@resource-broker/contract";
import { demandSchema, refusedPageSchema, validateExactly } from "@resource-broker/contract";
import { DEFAULT_POLICY } from "@resource-broker/domain";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { clustersOn } from "../dashboard/testing/clusters.ts";
import { certificates, runningDashboards } from "../dashboard/testing/running-dashboard.ts";
import { requestOf, WAITING_AGENT } from "../http/testing/samples.ts";

const world = clustersOn(runningDashboards());
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const UID = "5f1c8a3e-1111-4222-8333-444455556666";
const OTHER_UID = "5f1c8a3e-1111-4222-8333-444455557777";
const GI = 1024 ** 3;

async function start() {
  const time = fakeClock();
  const running = await world({ time });
  const { broker, read } = running;
  const ask = async (key: string, cpu = "1000", more: Readonly<Record<string, unknown>> = {}) => {
    const headers = { ...WAITING_AGENT, "Idempotency-Key": key };
    const body = requestOf(cpu, "8Gi", more);
    return broker.call(certificates.cluster("rome"), "POST /api/v1/reservations", { body, headers });
  };
  return {
    ...running,
    time,
    ask,
    refused: () => read<RefusedPageDTO>("/api/v1/refused-requests"),
    demand: () => read<DemandDTO>("/api/v1/demand"),
  };
}

test("retries of one request are one entry; equal requests of another object are another", async () => {
  const { ask, refused, time } = await start();
  for (let attempt = 1; attempt <= 3; attempt++) {
    expect(await ask(`${UID}-${attempt}`)).toMatchObject({ status: 409 });
    await time.advance(1000);
  }
  await ask(`${OTHER_UID}-1`);
  const page = await refused();
  expect(validateExactly(refusedPageSchema, page)).toMatchObject({ ok: true });
  expect(page.total).toBe(2);
  expect(page.items.map(({ attempts }) => attempts)).toEqual([1, 3]);
  const [, repeated] = page.items;
  expect(repeated).toMatchObject({ requesterID: "rome", tenant: "rome", reason: "capacity" });
  expect(Date.parse(repeated?.lastAt ?? "") - Date.parse(repeated?.firstAt ?? "")).toBe(2000);
});

test("without an agent's key, what asks for the same is one request", async () => {
  const { ask, refused } = await start();
  await ask("one");
  await ask("two");
  await ask("three", "1001");
  expect((await refused()).items.map(({ attempts }) => attempts)).toEqual([1, 2]);
});

test("refused requests are found, and sorted, as in other lists", async () => {
  const { ask, read, time } = await start();
  await ask(`${UID}-1`, "1000", { namespace: "ml-a", priority: 3 });
  await time.advance(1000);
  await ask(`${OTHER_UID}-1`, "2000");
  await time.advance(1000);
  await ask(`${UID}-2`, "1000", { namespace: "ml-a", priority: 3 });
  const cpus = async (query: string) => {
    const { items, total } = await read<RefusedPageDTO>(`/api/v1/refused-requests?${query}`);
    return { total, cpus: items.map(({ requestedResources: { cpu } }) => cpu) };
  };
  expect(await cpus("")).toEqual({ total: 2, cpus: ["1k", "2k"] });
  expect(await cpus("sort=first&order=desc")).toEqual({ total: 2, cpus: ["2k", "1k"] });
  expect(await cpus("sort=attempts&order=desc&limit=1")).toEqual({ total: 2, cpus: ["1k"] });
  expect(await cpus("sort=cpu&offset=1")).toEqual({ total: 2, cpus: ["2k"] });
  expect(await cpus("sort=priority")).toEqual({ total: 2, cpus: ["2k", "1k"] });
  expect(await cpus("q=ml-")).toEqual({ total: 1, cpus: ["1k"] });
  expect(await cpus("tenant=rome&requester=rome")).toMatchObject({ total: 2 });
  expect(await cpus("tenant=oslo")).toMatchObject({ total: 0 });
});

test("a retry keeps the ID of its entry, which says nothing of its key", async () => {
  const { ask, refused } = await start();
  await ask(`${UID}-1`);
  const [first] = (await refused()).items;
  await ask(`${UID}-2`);
  const [again] = (await refused()).items;
  expect(again).toMatchObject({ id: first?.id, attempts: 2 });
  expect(JSON.stringify(again)).not.toContain(UID);
});

test("the history counts a request when it is first refused, and no retry", async () => {
  const { ask, read, time } = await start();
  for (let attempt = 1; attempt <= 3; attempt++) {
    await ask(`${UID}-${attempt}`);
    // For other reasons, which is another record.
    await time.advance(DEFAULT_POLICY.stalenessMs * 2);
  }
  await ask(`${OTHER_UID}-1`);
  await time.advance(10_000);
  const { refused } = await read<DemandHistoryDTO>("/api/v1/history/demand?window=hour");
  const counts = refused.flatMap((each) => each.counts);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
});

test("demand has each request once, waiting and refused, by tenant", async () => {
  const { ask, demand } = await start();
  await ask(`${UID}-1`);
  await ask(`${UID}-2`);
  expect(await ask("holder", "16", { targetClusterID: "paris" })).toMatchObject({ status: 201 });
  expect(await ask("late", "16", { targetClusterID: "paris", wait: {} })).toMatchObject({ status: 202 });
  const found = await demand();
  expect(validateExactly(demandSchema, found)).toMatchObject({ ok: true });
  expect(found).toEqual({
    tenants: [
      {
        tenant: "rome",
        waiting: { requests: 1, resources: { cpu: 16, memory: 8 * GI, gpu: 0 } },
        refused: { requests: 1, resources: { cpu: 1000, memory: 8 * GI, gpu: 0 } },
      },
    ],
    left: 0,
  });
});

test("what is granted, or waits, is no longer refused; the others are forgotten after a day", async () => {
  const { ask, refused, time, broker, signIn } = await start();
  const { id } = (await ask("holder", "16", { targetClusterID: "paris" })).json as { id: string };
  const late = { targetClusterID: "paris" };
  await ask("a-1", "16", late);
  await ask("b-1", "15", late);
  await ask("c-1");
  expect((await refused()).total).toBe(3);
  await ask("b-2", "15", { ...late, wait: {} });
  expect((await refused()).items.map(({ requestedResources: { cpu } }) => cpu)).toEqual(["1k", "16"]);
  const rome = certificates.cluster("rome");
  await broker.call(rome, `DELETE /api/v1/reservations?key=b-2`, { headers: WAITING_AGENT });
  await broker.call(rome, `DELETE /api/v1/reservations/${id}`, { headers: WAITING_AGENT });
  await time.advance(DEFAULT_POLICY.stalenessMs / 2);
  expect(await ask("a-2", "16", late)).toMatchObject({ status: 201 });
  expect((await refused()).total).toBe(1);
  await time.advance(DAY_MS + MINUTE_MS);
  const { json } = await (await signIn()).get("/api/v1/refused-requests");
  expect(json).toEqual({ items: [], total: 0 });
});
