import type { UiCluster, UiFleet, UiFlows } from "@resource-broker/contract/dashboard";
import { describe, expect, test } from "vitest";
import { requestOf } from "../../http/testing/samples.ts";
import { clustersOn, HOSTILE } from "../testing/clusters.ts";
import { runningDashboards } from "../testing/running-dashboard.ts";

const world = clustersOn(runningDashboards());
const MINUTE_MS = 60_000;
const GI = 1024 ** 3;

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
