import type { UiAudit, UiHistory, UiMoneyReport, UiUnmet } from "@resource-broker/contract/dashboard";
import { describe, expect, test } from "vitest";
import { requestOf } from "../../http/testing/samples.ts";
import { clustersOn } from "../testing/clusters.ts";
import { runningDashboards } from "../testing/running-dashboard.ts";

const world = clustersOn(runningDashboards());
const MINUTE_MS = 60_000;

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
    // Beside the line that the ledger's memory begins.
    for (let count = 0; count < 4; count++) await reserve("rome", requestOf("1", "1Gi"));
    await read<UiAudit>("/ui/audit");
    await time.advance(1000);
    const first = await read<UiAudit>("/ui/audit?limit=3");
    expect(first.rows.map(({ sequence }) => sequence)).toEqual([5, 4, 3]);
    expect(first).toMatchObject({ before: 3, verified: { state: "whole", lines: 5 } });
    const second = await read<UiAudit>("/ui/audit?limit=3&before=3");
    expect(second.rows.map(({ sequence }) => sequence)).toEqual([2, 1]);
    expect(second.before).toBeNull();
    expect((await read<UiAudit>("/ui/audit?q=ROME")).rows).toHaveLength(4);
    expect(await admin.get("/ui/audit?before=x")).toMatchObject({ status: 400 });
  });
});

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
