import { isClusterId } from "@resource-broker/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterIdsFor } from "./inspect-clusters.ts";

const rows = [
  { context: "eu", id: "eu" },
  { context: "Kind-Lab", id: "kind-lab" },
  { context: "gke_my-project_europe-west1_prod", id: "gke-my-project-europe-west1-prod" },
  { context: "arn:aws:eks:eu-west-1:1234:cluster/prod", id: "prod" },
  { context: "admin@home.example.org", id: "admin-home.example.org" },
  { context: "default/api-lab-example:6443/kube:admin", id: "kube-admin" },
  { context: "///", id: "cluster" },
  { context: "日本", id: "cluster" },
];

test.each(rows)("the context $context becomes the cluster $id", ({ context, id }) => {
  expect([...clusterIdsFor([context]).values()]).toEqual([id]);
});

test("two contexts never become one cluster", () => {
  expect([...clusterIdsFor(["a/prod", "b/prod", "prod-2", "c/prod"]).values()]).toEqual([
    "prod",
    "prod-2",
    "prod-2-2",
    "prod-3",
  ]);
});

test("whatever contexts are called, their IDs are valid and differ", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: "binary", maxLength: 100 }), { maxLength: 8 }),
      (contexts) => {
        const ids = [...clusterIdsFor(contexts).values()];
        expect(ids.filter((id) => !isClusterId(id))).toEqual([]);
        expect(new Set(ids).size).toBe(contexts.length);
      },
    ),
  );
});
