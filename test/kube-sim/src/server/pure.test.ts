import { describe, expect, test } from "vitest";
import { compareVersions } from "./discovery.ts";
import { negotiate } from "./negotiate.ts";
import { routeOf } from "./route.ts";

describe("addresses", () => {
  test.each<[string, object]>([
    ["/version", { kind: "version" }],
    ["/readyz/etcd", { kind: "health" }],
    ["/api", { kind: "core-versions" }],
    ["/api/v1/", { kind: "resources", group: "", version: "v1" }],
    ["/apis", { kind: "groups" }],
    ["/apis/coordination.k8s.io", { kind: "group", group: "coordination.k8s.io" }],
    ["/apis/coordination.k8s.io/v1", { kind: "resources", group: "coordination.k8s.io", version: "v1" }],
    ["/openapi/v3", { kind: "openapi-index" }],
    ["/openapi/v3/api/v1", { kind: "openapi", group: "", version: "v1" }],
    ["/openapi/v3/apis/example.com/v1", { kind: "openapi", group: "example.com", version: "v1" }],
    ["/openapi/v3/apis/example.com", { kind: "unknown" }],
    ["/api/v1/nodes", { kind: "resource", group: "", version: "v1", plural: "nodes" }],
    [
      "/api/v1/nodes/n/status",
      { kind: "resource", group: "", version: "v1", plural: "nodes", name: "n", subresource: "status" },
    ],
    ["/api/v1/namespaces", { kind: "resource", group: "", version: "v1", plural: "namespaces" }],
    ["/api/v1/namespaces/d", { kind: "resource", group: "", version: "v1", plural: "namespaces", name: "d" }],
    [
      "/api/v1/namespaces/d/finalize",
      {
        kind: "resource",
        group: "",
        version: "v1",
        plural: "namespaces",
        name: "d",
        subresource: "finalize",
      },
    ],
    [
      "/api/v1/namespaces/d/pods",
      { kind: "resource", group: "", version: "v1", plural: "pods", namespace: "d" },
    ],
    [
      "/api/v1/namespaces/d/pods/p/binding",
      {
        kind: "resource",
        group: "",
        version: "v1",
        plural: "pods",
        namespace: "d",
        name: "p",
        subresource: "binding",
      },
    ],
    [
      "/apis/g/v1/namespaces/d/things/a%2Eb",
      { kind: "resource", group: "g", version: "v1", plural: "things", namespace: "d", name: "a.b" },
    ],
    ["/api/v1/namespaces/d/pods/p/proxy/path", { kind: "unknown" }],
    ["/api/v1//pods", { kind: "unknown" }],
    ["/api/v1/pods/%zz", { kind: "unknown" }],
    ["/", { kind: "unknown" }],
  ])("%s", (path, route) => {
    expect(routeOf(path)).toEqual(route);
  });
});

describe("what a caller would like", () => {
  const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const PROTOBUF = "application/vnd.kubernetes.protobuf";
  test.each<[string | undefined, boolean, object]>([
    [undefined, true, { encoding: "json", shape: "whole" }],
    ["*/*", true, { encoding: "json", shape: "whole" }],
    [`${TABLE},application/json`, false, { encoding: "json", shape: "table" }],
    [
      "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
      false,
      { encoding: "json", shape: "whole" },
    ],
    [`${PROTOBUF},application/json`, true, { encoding: "protobuf", shape: "whole" }],
    [`${PROTOBUF},application/json`, false, { encoding: "json", shape: "whole" }],
    [`${PROTOBUF};as=Table;v=v1;g=meta.k8s.io,${TABLE}`, true, { encoding: "json", shape: "table" }],
    ["application/json;q=0.5,application/yaml", false, { encoding: "yaml", shape: "whole" }],
    [
      "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      false,
      { encoding: "json", shape: "metadata" },
    ],
  ])("%s (protobuf: %s)", (accept, hasProtobuf, format) => {
    expect(negotiate(accept, { hasProtobuf })).toEqual(format);
  });

  test.each(["text/html", "application/json;q=0", PROTOBUF])("%s cannot be had", (accept) => {
    expect(() => negotiate(accept, { hasProtobuf: false })).toThrow(/only the following media types/u);
  });
});

test("released versions come before betas, betas before alphas, newer before older", () => {
  const versions = ["v1alpha1", "v1", "foo", "v2beta1", "v1beta2", "v10", "v2", "v1beta1"];
  expect(versions.toSorted(compareVersions)).toEqual([
    "v10",
    "v2",
    "v1",
    "v2beta1",
    "v1beta2",
    "v1beta1",
    "v1alpha1",
    "foo",
  ]);
});
