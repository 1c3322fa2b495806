import { NO_RESOURCES } from "@resource-broker/base";
import type { ReservationRequestDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import type { Answer } from "./local-broker.ts";
import { placePods, type WaitingGroup } from "./place-pods.ts";

const GRANTED = (provider: string): Answer => ({
  kind: "granted",
  reservation: {
    id: "rsv-eu-aaaaaaaaaaaaaaaa",
    requesterID: "eu",
    targetClusterID: provider,
    requestedResources: { cpu: "1", memory: "1Gi" },
    status: { phase: "Reserved", message: "" },
    createdAt: "2026-07-01T10:00:00Z",
  },
  explanation: `${provider} lends.`,
});
const REFUSED: Answer = {
  kind: "refused",
  explanation: "Nobody.",
  flip: "Would fit us with 1 CPU instead of 2.",
};

/** Answers in turn; the last one for ever. */
function brokerOf(...answers: readonly Answer[]) {
  const asked: ReservationRequestDTO[] = [];
  const reserve = async (_: string, request: ReservationRequestDTO): Promise<Answer> => {
    asked.push(request);
    return answers[Math.min(asked.length, answers.length) - 1] ?? REFUSED;
  };
  return { reserve, asked };
}

const group = (pods: number, more: Partial<WaitingGroup> = {}): WaitingGroup => ({
  namespace: "default",
  workload: "ReplicaSet/web",
  request: { ...NO_RESOURCES, cpuMillis: 2000, memoryBytes: 2 ** 30 },
  state: "unschedulable",
  why: "Insufficient cpu",
  pods,
  ...more,
});

test("each pod is asked for on its own, and must fit one node", async () => {
  const broker = brokerOf(GRANTED("us"), GRANTED("us"), GRANTED("lab"));
  const [report] = await placePods([{ clusterId: "eu", groups: [group(3)] }], broker);
  expect(report).toMatchObject({
    takenBy: [
      { clusterID: "us", pods: 2 },
      { clusterID: "lab", pods: 1 },
    ],
    left: 0,
    decisions: ["us lends.", "lab lends."],
  });
  const wanted = { cpu: "2", memory: "1Gi" };
  expect(broker.asked).toEqual(
    Array.from({ length: 3 }, () => ({ requestedResources: wanted, perNode: wanted })),
  );
});

test("after a refusal the others of the workload are not asked for", async () => {
  const broker = brokerOf(GRANTED("us"), REFUSED);
  const [report] = await placePods([{ clusterId: "eu", groups: [group(90)] }], broker);
  expect(report).toMatchObject({
    takenBy: [{ clusterID: "us", pods: 1 }],
    left: 89,
    flip: "Would fit us with 1 CPU instead of 2.",
    decisions: ["us lends.", "Nobody."],
  });
  expect(broker.asked).toHaveLength(2);
});

test("nobody is asked for a pod that more room would not help", async () => {
  const broker = brokerOf(GRANTED("us"));
  const states = ["gated", "pinned", "borrowing", "unseen"] as const;
  const groups = states.map((state) => group(1, { state }));
  const reports = await placePods([{ clusterId: "eu", groups }], broker);
  expect(reports.map(({ takenBy, left, notAsked }) => ({ takenBy, left, notAsked }))).toEqual(
    states.map(() => ({ takenBy: [], left: 0, notAsked: 0 })),
  );
  expect(broker.asked).toEqual([]);
});

test("a pod without requests asks for the least there is", async () => {
  const broker = brokerOf(GRANTED("us"));
  await placePods([{ clusterId: "eu", groups: [group(1, { request: NO_RESOURCES })] }], broker);
  expect(broker.asked).toMatchObject([{ requestedResources: { cpu: "1m", memory: "1Mi" } }]);
});

test("beyond 500 pods nobody is asked any more, and that is said", async () => {
  const broker = brokerOf(GRANTED("us"));
  const reports = await placePods([{ clusterId: "eu", groups: [group(450), group(100)] }], broker);
  expect(broker.asked).toHaveLength(500);
  expect(reports.map(({ notAsked, left }) => ({ notAsked, left }))).toEqual([
    { notAsked: 0, left: 0 },
    { notAsked: 50, left: 0 },
  ]);
});
