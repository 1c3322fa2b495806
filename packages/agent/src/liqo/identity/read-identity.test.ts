import { describe, expect, test } from "vitest";
import { type Deployment, readIdentity } from "./read-identity.ts";

const configMap = (id: string) => ({
  metadata: { name: "liqo-clusterid-configmap" },
  data: { CLUSTER_ID: id },
});
const deployment = (image: string, label?: string): Deployment => ({
  metadata: {
    name: "liqo-controller-manager",
    labels: label === undefined ? {} : { "app.kubernetes.io/version": label },
  },
  spec: {
    template: {
      spec: {
        containers: [
          { name: "proxy", image: "proxy:9" },
          { name: "controller-manager", image },
        ],
      },
    },
  },
});
const versionWith = (...deployments: Deployment[]): unknown => {
  const reading = readIdentity({ configMaps: [configMap("rome-liqo")], deployments });
  return reading.kind === "found" ? reading.identity.version : reading;
};

describe("Liqo's version", () => {
  const DIGEST = `sha256:${"0".repeat(64)}`;
  const rows: readonly (readonly [string, Deployment[], string])[] = [
    [
      "is the tag of its controller's image",
      [deployment("liqotech/liqo-controller-manager:v1.2.0", "v9")],
      "v1.2.0",
    ],
    ["is read beside a registry's port", [deployment("registry:5000/liqo/manager:v1.2.0")], "v1.2.0"],
    ["is not a registry's port", [deployment("registry:5000/liqo/manager", "v1.2.0")], "v1.2.0"],
    [
      "is the chart's label where the image is named by its digest",
      [deployment(`liqo@${DIGEST}`, "v1.2.1")],
      "v1.2.1",
    ],
    [
      "is the chart's label where a digest follows the tag",
      [deployment(`liqo:v1@${DIGEST}`, "v1.2.1")],
      "v1.2.1",
    ],
    ["may be a commit", [deployment("liqo-ci:3f2a9c")], "3f2a9c"],
    ["is unknown where nothing says it", [deployment("liqo")], "unknown"],
    ["is unknown without its controller", [], "unknown"],
    ["is unknown where the label is empty", [deployment("liqo", "")], "unknown"],
  ];
  test.each(rows)("%s", (_, deployments, version) => {
    expect(versionWith(...deployments)).toBe(version);
  });

  test("is never longer than the broker takes", () => {
    expect(versionWith(deployment(`liqo:${"x".repeat(200)}`))).toHaveLength(63);
  });
});

describe("Liqo's cluster ID", () => {
  test("is what its ConfigMap says", () => {
    expect(
      readIdentity({ configMaps: [configMap("rome-liqo")], deployments: [deployment("liqo:v1.2.0")] }),
    ).toEqual({
      kind: "found",
      identity: { clusterId: "rome-liqo", version: "v1.2.0" },
    });
  });

  test("is absent without it", () => {
    expect(readIdentity({ configMaps: [], deployments: [deployment("liqo:v1.2.0")] })).toEqual({
      kind: "absent",
    });
  });

  test.each(["", "Rome", "a b", "-x", "../x", "x".repeat(64)])("is not %j", (id) => {
    expect(readIdentity({ configMaps: [configMap(id)], deployments: [] }).kind).toBe("unclear");
  });

  test("is unclear where two say different things, and clear where they say the same", () => {
    const read = (...ids: string[]) => readIdentity({ configMaps: ids.map(configMap), deployments: [] }).kind;
    expect([read("a", "b"), read("a", "a")]).toEqual(["unclear", "found"]);
  });
});
