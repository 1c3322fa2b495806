import type { ReservationRequestDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { newerFieldsIn } from "./create-broker-client.ts";

const requestedResources = { cpu: "1", memory: "1Gi" };

test.each<[string, Partial<ReservationRequestDTO>, string[]]>([
  ["cpu, memory, duration and priority", { duration: "1h", priority: 3 }, []],
  ["a GPU", { requestedResources: { ...requestedResources, gpu: "1" } }, ["gpu"]],
  ["no GPU, said in words", { requestedResources: { ...requestedResources, gpu: "0" } }, []],
  ["storage", { requestedResources: { ...requestedResources, storage: "1Gi" } }, ["storage"]],
  [
    "extended resources",
    { requestedResources: { ...requestedResources, extended: { "amd.com/gpu": "1" } } },
    ["extended"],
  ],
  ["extended resources beside", { extended: { "amd.com/gpu": "1" } }, ["extended"]],
  ["no extended resources", { extended: { "amd.com/gpu": "0" } }, []],
  ["one node", { perNode: { cpu: "4" } }, ["perNode"]],
  ["a region", { constraints: { regions: ["eu"] } }, ["constraints"]],
  ["a label", { constraints: { labels: { tier: "gold" } } }, ["constraints"]],
  ["empty constraints", { constraints: { regions: [], labels: {} } }, []],
  ["a certain cluster", { targetClusterID: "paris" }, ["targetClusterID"]],
  ["a tier and a start", { tier: "spot", start: "2026-01-05T12:00:00Z" }, ["tier", "start"]],
])("an older broker would ignore of %s: %o", (_, more, requests) => {
  expect(newerFieldsIn({ requestedResources, ...more })).toEqual(requests);
});
