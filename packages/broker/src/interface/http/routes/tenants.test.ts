import { tenantPageSchema, validateExactly } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { runBroker } from "../testing/running-broker.ts";

const certificates = await testCertificates();
const ops = certificates.admin("ops");
const tenant = (cluster: string) => ({ members: [{ cluster }], weight: 1, quota: {} });

test("tenants are listed in pages, in the order of the policy", async () => {
  const policy: Policy = {
    ...DEFAULT_POLICY,
    tenants: { ml: tenant("rome"), batch: tenant("paris"), ci: tenant("oslo") },
  };
  const broker = await runBroker({
    store: memoryStore(),
    clock: fakeClock(),
    certificates: certificates.broker,
    policy,
  });
  onTestFinished(() => broker.stop());
  const page = async (query: string) => {
    const { json } = await broker.call(ops, `GET /api/v1/tenants?${query}`);
    const validated = validateExactly(tenantPageSchema, json);
    if (!validated.ok) throw new Error(JSON.stringify(validated.problems));
    const { items, total, next } = validated.value;
    return { names: items.map(({ name }) => name), total, next };
  };
  expect(await page("limit=2")).toEqual({ names: ["ml", "batch"], total: 3, next: "2" });
  expect(await page("limit=2&offset=2")).toEqual({ names: ["ci"], total: 3, next: undefined });
  expect(await page("offset=9")).toEqual({ names: [], total: 3, next: undefined });
  expect((await broker.call(ops, "GET /api/v1/tenants?limit=many")).status).toBe(400);
});
