import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../scheduling/policy.ts";
import { tenantOf } from "./tenants.ts";

const policy = {
  ...DEFAULT_POLICY,
  tenants: {
    ml: { members: [{ cluster: "rome", namespaces: ["ml-*", "gpu"] }], weight: 1, quota: {} },
    rest: { members: [{ cluster: "paris" }], weight: 1, quota: {} },
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
])("a request of %s in namespace %s counts for %s", (requester, namespace, tenant) => {
  expect(tenantOf(policy, requester, namespace)).toBe(tenant);
});
