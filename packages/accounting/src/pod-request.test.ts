import { type KubernetesPod, resourceVector } from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { countedResources } from "./counted-resources.ts";
import { podRequest } from "./pod-request.ts";
import { app, GI, init, MI, resized, resizePending, sidecar } from "./testing/pod-case.ts";
import { POD_CASES } from "./testing/pod-cases.ts";

describe("the pod request of", () => {
  it.each(POD_CASES.map((row) => [row.name, row] as const))("%s", (_, { pod, expected }) => {
    expect(podRequest(pod)).toEqual({ request: expected, problems: [] });
  });

  it("every named row is a row of its own", () => {
    expect(POD_CASES.length).toBeGreaterThanOrEqual(40);
    expect(new Set(POD_CASES.map(({ pod }) => pod.metadata?.name)).size).toBe(POD_CASES.length);
  });
});

const LIMIT_ONLY = { limits: { cpu: "1" }, requests: {} };

/** What no API server stores, or what releases of Kubernetes do differently: not part of the shared rows. */
const RARE: readonly (readonly [string, KubernetesPod, Parameters<typeof resourceVector>[0]])[] = [
  ["an empty object is nothing", {}, {}],
  [
    "a limit that the API server has not yet defaulted does not count",
    { spec: { containers: [{ name: "app", resources: LIMIT_ONLY }] } },
    {},
  ],
  [
    "fractions of a unit are rounded up for each container",
    {
      spec: {
        containers: [app({ cpu: "1500u", memory: "1500m" }), app({ cpu: "1500u", memory: "1500m" }, "web")],
      },
    },
    { cpuMillis: 4, memoryBytes: 4 },
  ],
  [
    "an init container that restarts only on failure is an ordinary one",
    {
      spec: {
        containers: [app({ cpu: "1" })],
        initContainers: [{ ...init({ cpu: "1" }), restartPolicy: "OnFailure" }],
      },
    },
    { cpuMillis: 1000 },
  ],
  [
    "a status without resources comes from a kubelet that does not resize",
    {
      spec: { containers: [app({ cpu: "1" })] },
      status: { containerStatuses: [{ name: "app", allocatedResources: { cpu: "2" } }] },
    },
    { cpuMillis: 1000 },
  ],
  [
    "an ordinary init container cannot be resized",
    {
      spec: { containers: [app({ cpu: "1" })], initContainers: [init({ cpu: "1" })] },
      status: { initContainerStatuses: [resized("init", { cpu: "9" })] },
    },
    { cpuMillis: 1000 },
  ],
  [
    // Kubernetes 1.37 compares the pod's sums instead and would say 4.
    "containers that grow and shrink at once count the larger of each",
    {
      spec: { containers: [app({ cpu: "3" }), app({ cpu: "1" }, "web")] },
      status: { containerStatuses: [resized("app", { cpu: "1" }), resized("web", { cpu: "3" })] },
    },
    { cpuMillis: 6000 },
  ],
  [
    "an infeasible resize of a sidecar counts what it has",
    {
      spec: { containers: [app({ cpu: "1" })], initContainers: [sidecar({ cpu: "50" })] },
      status: {
        conditions: [{ type: "Ready", status: "True" }, ...resizePending("Infeasible")],
        initContainerStatuses: [resized("sidecar", { cpu: "1" })],
      },
    },
    { cpuMillis: 2000 },
  ],
  [
    "a pod-level request for a resource that cannot be stated there is ignored",
    {
      spec: {
        containers: [app({ cpu: "1", "ephemeral-storage": "1Gi" })],
        resources: { requests: { "ephemeral-storage": "9Gi", "nvidia.com/gpu": "8" } },
      },
    },
    { cpuMillis: 1000, storageBytes: GI },
  ],
];

describe("a pod request", () => {
  it.each(RARE)("%s", (_, pod, expected) => {
    expect(podRequest(pod)).toEqual({ request: resourceVector(expected), problems: [] });
  });

  it("counts the extended resources that the caller lists, each under its name", () => {
    const resources = countedResources({ extendedResources: ["example.com/fpga", "hugepages-2Mi"] });
    const pod: KubernetesPod = {
      spec: {
        containers: [
          app({ "example.com/fpga": "2", "hugepages-2Mi": "64Mi", "example.com/other": "1" }),
          app({ "example.com/fpga": "1" }, "web"),
        ],
        resources: { requests: { "hugepages-2Mi": "128Mi" } },
      },
    };
    expect(podRequest(pod, resources).request).toEqual(
      resourceVector({ extended: { "example.com/fpga": 3, "hugepages-2Mi": 128 * MI } }),
    );
  });

  it("counts every resource named as a GPU together", () => {
    const resources = countedResources({ gpuResources: ["nvidia.com/gpu", "amd.com/gpu"] });
    const pod = { spec: { containers: [app({ "nvidia.com/gpu": "1", "amd.com/gpu": "2" })] } };
    expect(podRequest(pod, resources).request).toEqual(resourceVector({ gpus: 3 }));
  });

  it("names each quantity it cannot read, leaves it out and keeps the rest", () => {
    const { request, problems } = podRequest({
      spec: {
        containers: [app({ cpu: "lots", memory: "1Gi" }), app({ cpu: "-1" }, "web")],
        overhead: { cpu: "100m", memory: "1gi" },
        resources: { requests: { memory: "1e400" } },
      },
      status: { containerStatuses: [resized("web", { cpu: "" })] },
    });
    expect(request).toEqual(resourceVector({ cpuMillis: 100, memoryBytes: GI }));
    expect(problems).toEqual([
      expect.stringMatching(/^spec\.containers\[app\]\.resources\.requests\.cpu: "lots" is not a quantity/),
      'spec.containers[web].resources.requests.cpu: "-1" must not be negative.',
      expect.stringMatching(/^status of container web: allocatedResources\.cpu: "" is not a quantity/),
      expect.stringMatching(/^status of container web: resources\.requests\.cpu: "" is not a quantity/),
      expect.stringMatching(/^spec\.resources\.requests\.memory: "1e400"/),
      expect.stringMatching(/^spec\.overhead\.memory: "1gi" is not a quantity/),
    ]);
  });

  it("does not read the quantities of a pod that has ended", () => {
    const pod = { spec: { containers: [app({ cpu: "lots" })] }, status: { phase: "Failed" } };
    expect(podRequest(pod)).toEqual({ request: resourceVector({}), problems: [] });
  });
});
