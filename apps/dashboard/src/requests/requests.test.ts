import type { DemandDTO, TenantDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import {
  budgetView,
  originText,
  quotaViews,
  shareText,
  unmetTotals,
  unmetView,
  WAITING_REASONS,
} from "./request-view.ts";

const GI = 2 ** 30;
const NOTHING = { requests: 0, resources: { cpu: 0, memory: 0, gpu: 0 } };
const of = (requests: number, cpu: number, gpu = 0) => ({
  requests,
  resources: { cpu, memory: cpu * GI, gpu },
});

const DEMAND: DemandDTO = {
  tenants: [
    { tenant: "ml", waiting: of(3, 80, 30), refused: of(1, 900) },
    { tenant: "dublin", waiting: NOTHING, refused: of(2, 12, 24) },
  ],
  left: 0,
};

const TENANT: TenantDTO = {
  name: "ml",
  inPolicy: true,
  weight: 1,
  share: 0.125,
  holds: { cpu: "12", memory: "48Gi", extended: { "amd.com/gpu": "3" } },
  reservations: 4,
  committedToday: "12.5",
  currency: "EUR",
  waiting: 0,
};

test("demand is counted per request and summed per resource, over all tenants", () => {
  expect(unmetTotals(DEMAND)).toEqual({
    waiting: { requests: 3, text: "80\u00a0CPU\u00a0· 80\u00a0GiB\u00a0· 30\u00a0GPU" },
    refused: { requests: 3, text: "912\u00a0CPU\u00a0· 912\u00a0GiB\u00a0· 24\u00a0GPU" },
  });
  expect(unmetView([NOTHING])).toEqual({ requests: 0, text: "" });
});

test.each([
  ["a tenant and a namespace", { tenant: "ml", namespace: "ml-training" }, "ml · ml-training"],
  ["a cluster without a tenant", { tenant: "rome", namespace: "shop" }, "shop"],
  ["nothing more than the cluster", { tenant: "rome" }, ""],
])("beside the cluster stands %s", (_name, origin, text) => {
  expect(originText({ requesterID: "rome", ...origin })).toBe(text);
});

test("a quota has a bar for each resource that it limits, and for reservations", () => {
  const quota = { cpu: "24", gpu: "8", extended: { "amd.com/gpu": "2" }, reservations: 40 };
  expect(
    quotaViews({ ...TENANT, quota }).map(({ title, text, share, isOver }) => [title, text, share, isOver]),
  ).toEqual([
    ["CPU", "12 of 24", 0.5, false],
    ["GPU", "0 of 8", 0, false],
    ["amd.com/gpu", "3 of 2", 1, true],
    ["Reservations", "4 of 40", 0.1, false],
  ]);
  expect(quotaViews(TENANT)).toEqual([]);
});

test.each([
  ["50", "Today: €12.50 of €50.00, 25 % used", 0.25, false],
  ["10", "Today: €12.50 of €10.00, more than allowed", 1, true],
  ["0", "Today: €12.50 of €0.00, more than allowed", 1, true],
])("of a budget of %s a day, %s", (budgetPerDay, description, share, isOver) => {
  expect(budgetView({ ...TENANT, budgetPerDay })).toMatchObject({ description, share, isOver });
});

test("without a budget there is no bar; nothing used of nothing is not too much", () => {
  expect(budgetView(TENANT)).toBeNull();
  const nothing = budgetView({ ...TENANT, committedToday: "0", budgetPerDay: "0" });
  expect(nothing).toMatchObject({ share: 0, isOver: false });
});

test("a share says its weight where that matters", () => {
  expect(shareText(TENANT)).toBe("13 %");
  expect(shareText({ share: 0.004, weight: 3 })).toBe("0.4 % (weight 3)");
});

test("each reason to wait has words of its own", () => {
  const titles = Object.values(WAITING_REASONS).map(({ title }) => title);
  expect(new Set(titles).size).toBe(7);
});
