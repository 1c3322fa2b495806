import { describe, expect, test } from "vitest";
import type { AgentSettings } from "./agent-settings.ts";
import { settingsOf } from "./testing/read-settings.ts";

describe("the agent's settings", () => {
  test("have the documented defaults", async () => {
    expect(await settingsOf([])).toEqual({
      "broker-transport": "http",
      "broker-url": ["https://broker.example:8443"],
      "broker-cert-path": "/certs",
      "broker-kubeconfig": "",
      "broker-namespace": "default",
      "cluster-id": "",
      "cluster-name": "",
      "cluster-endpoint": "",
      "cluster-labels": [],
      kubeconfig: "",
      context: "",
      "advertisement-name": "cluster-advertisement",
      "advertisement-namespace": "default",
      "advertisement-requeue-interval": 30_000,
      "instruction-namespace": "default",
      "instruction-poll-interval": 5000,
      "tolerated-taints": [],
      "gpu-resources": ["nvidia.com/gpu"],
      "extended-resources": [],
      "price-cpu": "",
      "price-memory": "",
      "price-gpu": "",
      "price-storage": "",
      "price-currency": "",
      "price-configmap": "",
      "price-sheet": "",
      "liqo-mode": "off",
      "kubeconfigs-dir": "",
      "liqo-gateway-type": "NodePort",
      "liqo-networking": true,
      "liqo-namespace": "liqo",
      "liqo-enforce": false,
      liqoctl: "",
      "liqo-timeout": 600_000,
      "leader-elect": false,
      "leader-election-id": "resource-broker-agent",
      "leader-election-namespace": "default",
      "metrics-bind-address": ":8080",
      "health-probe-bind-address": ":8081",
      "metrics-secure": false,
      "metrics-cert-path": "",
      "metrics-cert-name": "tls.crt",
      "metrics-cert-key": "tls.key",
      "log-format": "auto",
      "log-level": "info",
      config: "",
      help: false,
      version: false,
    });
  });

  const written: readonly {
    readonly name: string;
    readonly argv?: readonly string[];
    readonly env?: Record<string, string>;
    readonly settings: Partial<AgentSettings>;
  }[] = [
    {
      name: "several brokers",
      argv: ["--broker-url=https://a:8443, https://b:8443"],
      settings: { "broker-url": ["https://a:8443", "https://b:8443"] },
    },
    {
      name: "what only the environment says",
      env: { AGENT_CLUSTER_ID: "rome", AGENT_LEADER_ELECT: "true" },
      settings: { "cluster-id": "rome", "leader-elect": true },
    },
    {
      name: "instructions beside the advertisement",
      argv: ["--advertisement-namespace=sharing"],
      settings: { "instruction-namespace": "sharing", "leader-election-namespace": "sharing" },
    },
    {
      name: "instructions in a namespace of their own",
      argv: ["--advertisement-namespace=sharing", "--instruction-namespace=orders"],
      settings: { "advertisement-namespace": "sharing", "instruction-namespace": "orders" },
    },
    {
      name: "the lease in the pod's namespace",
      env: { POD_NAMESPACE: "system" },
      settings: { "leader-election-namespace": "system", "advertisement-namespace": "default" },
    },
    {
      name: "the lease where the flag says, whatever the pod's namespace is",
      argv: ["--leader-election-namespace=locks"],
      env: { POD_NAMESPACE: "system" },
      settings: { "leader-election-namespace": "locks" },
    },
    {
      name: "taints, labels and resources",
      argv: [
        "--tolerated-taints=dedicated=batch:NoSchedule, gpu",
        "--cluster-labels=tier=gold,example.com/site=north,empty=",
        "--gpu-resources=nvidia.com/gpu,amd.com/gpu",
        "--extended-resources=example.com/fpga",
      ],
      settings: {
        "tolerated-taints": [{ key: "dedicated", value: "batch", effect: "NoSchedule" }, { key: "gpu" }],
        "cluster-labels": [
          { name: "tier", value: "gold" },
          { name: "example.com/site", value: "north" },
          { name: "empty", value: "" },
        ],
        "gpu-resources": ["nvidia.com/gpu", "amd.com/gpu"],
        "extended-resources": ["example.com/fpga"],
      },
    },
    {
      name: "no polling",
      argv: ["--instruction-poll-interval=0"],
      settings: { "instruction-poll-interval": 0 },
    },
    { name: "no GPUs", argv: ["--gpu-resources="], settings: { "gpu-resources": [] } },
    {
      name: "the explicit transport",
      argv: ["--broker-transport=http"],
      settings: { "broker-transport": "http" },
    },
  ];
  test.each(written)("take $name", async ({ argv = [], env = {}, settings }) => {
    expect(await settingsOf(argv, env)).toMatchObject(settings);
  });
});
