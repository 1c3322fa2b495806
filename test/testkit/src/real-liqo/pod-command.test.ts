import { describe, expect, test } from "vitest";
import { podCommand, programOf, type RunnablePod } from "./pod-command.ts";

const container = {
  image: "example/liqotech/virtual-kubelet:v1.2.0",
  command: ["/usr/bin/virtual-kubelet"],
  args: ["--nodename=rsv-1", "--node-ip=$(POD_IP)", "--home-cluster-id=$(CLUSTER_ID)", "--as-is=$(UNKNOWN)"],
  env: [
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "CLUSTER_ID", valueFrom: { configMapKeyRef: { name: "ids", key: "CLUSTER_ID" } } },
    { name: "PLAIN", value: "text" },
  ],
};

function pod(change: Partial<RunnablePod> = {}): RunnablePod {
  return {
    metadata: { name: "vk", namespace: "liqo-tenant-liqo-paris", uid: "1" },
    spec: { nodeName: "rome-1", containers: [container] },
    status: { phase: "Running", podIP: "10.101.0.7" },
    ...change,
  };
}

describe("a pod of Liqo as a process", () => {
  test("gets the arguments and the environment that a kubelet would give it, and ports of its own", () => {
    const places = {
      kubeconfigFile: "/lab/kubeconfig",
      ports: [20_001],
      configMapValue: (name: string, key: string) => `${key} of ${name}`,
    };
    expect(podCommand(pod(), places)).toEqual({
      args: [
        "--nodename=rsv-1",
        "--node-ip=10.101.0.7",
        "--home-cluster-id=CLUSTER_ID of ids",
        "--as-is=$(UNKNOWN)",
        "--listen-port=20001",
        "--certificate-type=self-signed",
        "--home-kubeconfig=/lab/kubeconfig",
      ],
      env: {
        KUBECONFIG: "/lab/kubeconfig",
        POD_IP: "10.101.0.7",
        CLUSTER_ID: "CLUSTER_ID of ids",
        PLAIN: "text",
      },
    });
  });

  const others: readonly { readonly name: string; readonly not: RunnablePod }[] = [
    { name: "that is not scheduled yet", not: pod({ status: { phase: "Pending" } }) },
    {
      name: "that is leaving",
      not: pod({ metadata: { ...pod().metadata, deletionTimestamp: "2026-11-16T09:00:00Z" } }),
    },
    {
      name: "of somebody else with a program of that name",
      not: pod({ spec: { containers: [{ ...container, image: "example/virtual-kubelet:1" }] } }),
    },
    {
      name: "of Liqo with a program that is not started",
      not: pod({ spec: { containers: [{ ...container, command: ["/usr/bin/gateway"] }] } }),
    },
  ];
  test.each(others)("is not started for one $name", ({ not }) => {
    expect(programOf(pod())).toBe("virtual-kubelet");
    expect(programOf(not)).toBeUndefined();
  });
});
