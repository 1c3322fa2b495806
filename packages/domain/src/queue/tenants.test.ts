import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../scheduling/policy.ts";
import { tenantOf, tenantRules } from "./tenants.ts";

const policy = {
  ...DEFAULT_POLICY,
  tenants: {
    ml: { members: [{ cluster: "rome", namespaces: ["ml-*", "gpu"] }], weight: 1, quota: {} },
    rest: { members: [{ cluster: "paris" }], weight: 1, quota: {} },
    bern: { members: [{ cluster: "bern", namespaces: ["ml"] }], weight: 1, quota: {}, maxPriority: 99 },
    kyiv: { members: [{ cluster: "quito" }], weight: 1, quota: {}, maxPriority: 99 },
    default: { members: [], weight: 1, quota: {}, maxPriority: 1 },
  },
};

test.each([
  ["rome", "ml-train", "ml"],
  ["rome", "ml-", "ml"],
  ["rome", "ml", "rome"],
  ["rome", "mlx", "rome"],
  ["rome", "xml-train", "rome"],
  ["rome", "gpu", "ml"],
  ["rome", "gpu-2", "rome"],
  ["rome", undefined, "rome"],
  ["paris", "anything", "rest"],
  ["paris", undefined, "rest"],
  ["oslo", "ml-train", "oslo"],
  ["bern", "ml", "bern"],
  ["bern", "web", "cluster/bern"],
  ["kyiv", "ml", "cluster/kyiv"],
  ["default", "ml", "cluster/default"],
])("a request of %s in namespace %s counts for %s", (requester, namespace, tenant) => {
  expect(tenantOf(policy, requester, namespace)).toBe(tenant);
});

test.each([
  ["bern", "ml", 99],
  ["bern", "web", 1],
  ["kyiv", "ml", 1],
  ["oslo", "ml", 1],
])("a request of %s in namespace %s has the highest priority %i", (requester, namespace, highest) => {
  expect(tenantRules(policy, tenantOf(policy, requester, namespace)).maxPriority).toBe(highest);
});
