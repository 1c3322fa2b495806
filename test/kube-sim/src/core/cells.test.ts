import { describe, expect, test } from "vitest";
import type { ResourceDefinition } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { columnDefinitions, tableRow } from "../table/table.ts";
import { scalarText } from "./look.ts";
import { NODES } from "./nodes.ts";
import { PODS } from "./pods/pods.ts";
import { SERVICES } from "./services.ts";
import { EVENTS } from "./small-kinds.ts";

const NOW = Date.parse("2026-01-05T12:00:00Z");

function shown(definition: ResourceDefinition, object: JsonObject): Readonly<Record<string, unknown>> {
  const { cells } = tableRow(definition, object, { nowMs: NOW, includeObject: "None" });
  const names = columnDefinitions(definition).map(({ name }) => name);
  return Object.fromEntries(
    (cells as readonly unknown[]).map((cell, index): [string, unknown] => [scalarText(names[index]), cell]),
  );
}

const condition = (type: string, status: string, more: JsonObject = {}): JsonObject => ({
  type,
  status,
  ...more,
});
const waiting = { state: { waiting: { reason: "ImagePullBackOff" } } };

describe("what is shown of pods", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["a running one", { status: { phase: "Running" } }, { Status: "Running" }],
    ["one that has done its work", { status: { phase: "Succeeded" } }, { Status: "Completed" }],
    ["one that was thrown out", { status: { phase: "Failed", reason: "Evicted" } }, { Status: "Evicted" }],
    [
      "one that is going",
      { metadata: { deletionTimestamp: "2026-01-05T12:00:00Z" }, status: { phase: "Running" } },
      { Status: "Terminating" },
    ],
    [
      "one that is held by a gate",
      {
        status: {
          phase: "Pending",
          conditions: [condition("PodScheduled", "False", { reason: "SchedulingGated" })],
        },
      },
      { Status: "SchedulingGated" },
    ],
    [
      "one whose container cannot start",
      { status: { phase: "Pending", containerStatuses: [waiting] } },
      { Status: "ImagePullBackOff" },
    ],
    [
      "one whose init container cannot start",
      { status: { phase: "Pending", initContainerStatuses: [waiting] } },
      { Status: "Init:ImagePullBackOff" },
    ],
    [
      "one that was started again",
      {
        status: {
          phase: "Running",
          containerStatuses: [
            { restartCount: 2, lastState: { terminated: { finishedAt: "2026-01-05T11:55:00Z" } } },
          ],
        },
      },
      { Restarts: "2 (5m ago)" },
    ],
    [
      "one of whose containers one is ready",
      { spec: { containers: [{}, {}] }, status: { containerStatuses: [{ ready: true }, { ready: false }] } },
      { Ready: "1/2" },
    ],
    [
      "one with further conditions",
      {
        spec: { readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] },
        status: { conditions: [condition("a", "True")] },
      },
      { "Readiness Gates": "1/2" },
    ],
  ])("%s", (_name, object, expected) => {
    expect(shown(PODS, object)).toMatchObject(expected);
  });
});

describe("what is shown of nodes", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["one that never spoke", {}, { Status: "Unknown", Roles: "<none>" }],
    [
      "one that is not ready",
      { status: { conditions: [condition("Ready", "False")] } },
      { Status: "NotReady" },
    ],
    [
      "one that is closed",
      { spec: { unschedulable: true }, status: { conditions: [condition("Ready", "True")] } },
      { Status: "Ready,SchedulingDisabled" },
    ],
    [
      "one with two roles",
      {
        metadata: {
          labels: { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "" },
        },
      },
      { Roles: "control-plane,worker" },
    ],
    [
      "its addresses",
      { status: { addresses: [{ type: "ExternalIP", address: "1.2.3.4" }] } },
      { "External-IP": "1.2.3.4", "Internal-IP": "<none>" },
    ],
  ])("%s", (_name, object, expected) => {
    expect(shown(NODES, object)).toMatchObject(expected);
  });
});

describe("what is shown of services", () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      "one that waits for its load balancer",
      { spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }] } },
      { "External-IP": "<pending>", "Port(s)": "80:30080/TCP" },
    ],
    [
      "one that has got it",
      { spec: { type: "LoadBalancer" }, status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
      { "External-IP": "1.2.3.4" },
    ],
    [
      "one that stands for a name",
      { spec: { type: "ExternalName", externalName: "example.com" } },
      { "External-IP": "example.com", "Port(s)": "<none>" },
    ],
  ])("%s", (_name, object, expected) => {
    expect(shown(SERVICES, object)).toMatchObject(expected);
  });
});

test("events begin with their time and end with their name", () => {
  const names = columnDefinitions(EVENTS).map(({ name }) => name);
  expect([names[0], names.at(-1)]).toEqual(["Last Seen", "Name"]);
});
