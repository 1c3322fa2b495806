import { describe, expect, test } from "vitest";
import { collectionPath, customResource, objectPath } from "./resource.ts";
import { CUSTOM_RESOURCE_DEFINITIONS, LEASES, NODES, PODS } from "./resources.ts";

describe("the path", () => {
  test.each([
    ["a pod", objectPath(PODS, { name: "web-0", namespace: "shop" }), "/api/v1/namespaces/shop/pods/web-0"],
    ["the pods of a namespace", collectionPath(PODS, "shop"), "/api/v1/namespaces/shop/pods"],
    ["all pods", collectionPath(PODS), "/api/v1/pods"],
    ["a node", objectPath(NODES, { name: "n1" }), "/api/v1/nodes/n1"],
    ["a node's status", objectPath(NODES, { name: "n1" }, "status"), "/api/v1/nodes/n1/status"],
    [
      "a lease",
      objectPath(LEASES, { name: "leader", namespace: "lab" }),
      "/apis/coordination.k8s.io/v1/namespaces/lab/leases/leader",
    ],
    [
      "a definition",
      objectPath(CUSTOM_RESOURCE_DEFINITIONS, { name: "a.b.c" }),
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b.c",
    ],
    ["a name with a colon", objectPath(NODES, { name: "system:node" }), "/api/v1/nodes/system%3Anode"],
    ["a name that looks like a query", objectPath(NODES, { name: "a?b#c d" }), "/api/v1/nodes/a%3Fb%23c%20d"],
  ])("of %s is right", (_, path, expected) => {
    expect(path).toBe(expected);
  });

  test("of a kind of a CRD has its group, version and plural", () => {
    const widgets = customResource({
      group: "example.org",
      version: "v1",
      kind: "Widget",
      plural: "widgets",
    });
    expect(collectionPath(widgets, "lab")).toBe("/apis/example.org/v1/namespaces/lab/widgets");
  });

  test.each(["", ".", "..", "a/b", "../secrets/x", "a%2fb", "\ud800"])(
    "never leads elsewhere: %j",
    (name) => {
      expect(() => objectPath(NODES, { name })).toThrow("is no name for Node");
      expect(() => objectPath(PODS, { name: "a", namespace: name })).toThrow("is no namespace for Pod");
    },
  );

  test("needs a namespace where there is one, and only there", () => {
    expect(() => objectPath(PODS, { name: "a" })).toThrow("Pod a needs a namespace");
    expect(() => objectPath(NODES, { name: "a", namespace: "b" })).toThrow("Node is not namespaced");
  });
});
