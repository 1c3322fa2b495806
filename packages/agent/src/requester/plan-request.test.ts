import { Fault, formatTime } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { aRequest, aReservation, cachedOf, ended, NOW, UID } from "../testing/samples.ts";
import { planRefusal, QUEUE_RETRY_MS } from "./plan-answer.ts";
import { planForgotten, planRequest, type RequestState } from "./plan-request.ts";

function state(changes: Partial<RequestState> = {}): RequestState {
  return {
    request: aRequest(),
    entry: undefined,
    delivery: undefined,
    release: undefined,
    now: NOW,
    isRequeued: false,
    ...changes,
  };
}

function withStatus(status: ResourceRequest["status"], spec: Partial<ResourceRequest["spec"]> = {}) {
  const request = aRequest();
  return { ...request, spec: { ...request.spec, ...spec }, ...(status === undefined ? {} : { status }) };
}

const condition = (status: ResourceRequest["status"], type: string) =>
  status?.conditions?.find((each) => each.type === type);

describe("a new request", () => {
  test("is asked for with a key made of its UID", () => {
    expect(planRequest(state())).toEqual({
      ask: { request: { requestedResources: { cpu: "4", memory: "8Gi" } }, key: `${UID}-1` },
    });
  });

  test("passes on every wish but those for this cluster alone", () => {
    const request = withStatus(undefined, {
      requestedGPU: "1",
      requestedStorage: "10Gi",
      duration: "1h30m",
      priority: 5,
      queue: true,
      constraints: { regions: ["eu-west"] },
      offload: { namespaces: ["shop"] },
    });
    expect(planRequest(state({ request })).ask?.request).toEqual({
      requestedResources: { cpu: "4", memory: "8Gi", gpu: "1", storage: "10Gi" },
      duration: "1h30m",
      priority: 5,
      constraints: { regions: ["eu-west"] },
    });
  });

  test.each([
    ["abc", "spec.requestedCPU"],
    ["-1", "spec.requestedCPU"],
    ["0", "spec.requestedCPU"],
    ["9e30", "spec.requestedCPU"],
    ["99999999999999999999", "spec.requestedCPU"],
  ])("with requestedCPU %j fails and says which field is wrong", (requestedCPU, field) => {
    const plan = planRequest(state({ request: withStatus(undefined, { requestedCPU }) }));
    expect(plan.ask).toBeUndefined();
    expect(plan.status).toMatchObject({ phase: "Failed", reason: "Invalid" });
    expect(plan.status?.message).toMatch(/[^.]: correct it in a new request/);
    expect(plan.status?.message).toContain(field);
  });
});

describe("a request whose reservation was preempted", () => {
  const preempted = cachedOf("requester", ended("Preempted"));
  const { id } = preempted.reservation;
  const before = { phase: "Active", reservationName: id, attempts: 1 } as const;

  test("asks again for its place, with its next key, if it may wait", () => {
    const asked = withStatus(before, { queue: true });
    const { status, requeueAfterMs } = planRequest(state({ request: asked, entry: preempted }));
    expect(requeueAfterMs).toBe(0);
    expect(status).toMatchObject({ phase: "Pending", resumes: id, attempts: 1 });
    expect(status?.reservationName).toBeUndefined();
    expect(condition(status, "Reserved")).toMatchObject({ status: "False", reason: "Preempted" });
    const request = withStatus(status, { queue: true });
    for (const entry of [preempted, undefined])
      expect(planRequest(state({ request, entry })).ask?.key).toBe(`${UID}-2`);
  });

  test("keeps asking for it while nothing is decided, and not after", () => {
    const request = withStatus({ phase: "Pending", attempts: 1, resumes: id }, { queue: true });
    const unanswered = planRefusal(state({ request }), new Fault("unreachable", "gone"));
    expect(unanswered.status).toMatchObject({ phase: "Pending", attempts: 1, resumes: id });
    const refused = planRefusal(state({ request }), new Fault("invalid", "no"));
    expect(refused.status).toMatchObject({ phase: "Failed" });
    expect(refused.status.resumes).toBeUndefined();
    const granted = cachedOf("requester", aReservation({ id: "rsv-rome-2", key: `${UID}-2` }));
    expect(planRequest(state({ request, entry: granted })).status?.resumes).toBeUndefined();
  });

  test.each([undefined, false])("fails if it may not wait: queue %s", (queue) => {
    const request = withStatus(before, queue === undefined ? {} : { queue });
    const plan = planRequest(state({ request, entry: preempted }));
    expect(plan).toMatchObject({ status: { phase: "Failed", reason: "Preempted", reservationName: id } });
    expect(plan.ask).toBeUndefined();
  });

  test("is not asked for while another of its reservations lives", () => {
    const request = withStatus({ phase: "Pending", attempts: 1, resumes: id }, { queue: true });
    const alive = cachedOf("requester", aReservation(), { syncState: "unconfirmed" });
    expect(planRequest(state({ request, entry: alive })).ask).toBeUndefined();
  });
});

describe("a granted request", () => {
  test("says so when the broker does not know it any more, and keeps it", () => {
    const { status } = planRequest(
      state({ entry: cachedOf("requester", aReservation(), { syncState: "unknown" }) }),
    );
    expect(status?.phase).toBe("Reserved");
    expect(condition(status, "Reserved")).toMatchObject({ status: "Unknown", reason: "UnknownToBroker" });
  });

  test("that nobody here remembers is looked up by its name", () => {
    const request = withStatus({ phase: "Active", reservationName: "rsv-rome-1", attempts: 1 });
    expect(planRequest(state({ request }))).toEqual({ lookUp: "rsv-rome-1" });
    expect(planForgotten(state({ request })).ask?.key).toBe(`${UID}-1`);
  });
});

describe("a request whose reservation ended", () => {
  const reserved = (attempts: number) =>
    withStatus({ phase: "Reserved", reservationName: aReservation().id, attempts });

  test.each([
    ["Expired", "Released"],
    ["ReleasedByAdmin", "Released"],
    ["ProviderLost", "Failed"],
    ["Preempted", "Failed"],
  ] as const)("with %s is %s for good", (reason, phase) => {
    const cached = cachedOf("requester", ended(reason));
    const { status } = planRequest(state({ request: reserved(1), entry: cached }));
    expect(status).toMatchObject({ phase, reason });
    const done = state({ request: withStatus(status), entry: cached });
    expect(planRequest(done)).toEqual({});
  });

  test("because the provider refused asks again, with the next attempt", () => {
    const cached = cachedOf("requester", ended("ProviderRefused"));
    const first = planRequest(state({ request: reserved(1), entry: cached }));
    expect(first).toMatchObject({ status: { phase: "Pending", attempts: 1 }, requeueAfterMs: 0 });
    expect(first.status?.reservationName).toBeUndefined();
    expect(first.status?.message).toContain("paris could not hold it");
    const second = planRequest(state({ request: withStatus(first.status), entry: cached }));
    expect(second.ask?.key).toBe(`${UID}-2`);
  });

  test("does not go round in circles when the next attempt is queued", () => {
    const cached = cachedOf("requester", ended("ProviderRefused"));
    const request = withStatus(planRequest(state({ entry: cached })).status, { queue: true });
    const queued = planRefusal(state({ request }), new Fault("no-capacity", "nothing fits"));
    const again = planRequest(state({ request: withStatus(queued.status, { queue: true }), entry: cached }));
    expect(again).toEqual({ requeueAfterMs: QUEUE_RETRY_MS });
  });
});

describe("a refusal", () => {
  const noCapacity = new Fault("no-capacity", "No cluster can lend 4 CPU", {
    details: {
      reasons: [{ clusterID: "paris", reason: "capacity", message: "needs 3 more CPU" }],
      flip: "Would fit paris with 5 CPU instead of 8.",
      decisionID: "dec-1",
    },
  });

  test("ends a request that does not queue, and explains itself", () => {
    const plan = planRefusal(state(), noCapacity);
    expect(plan.isUnanswered).toBeUndefined();
    expect(plan.requeueAfterMs).toBeUndefined();
    expect(plan.status).toMatchObject({
      phase: "Failed",
      reason: "NoCapacity",
      explanation: "paris: needs 3 more CPU\nWould fit paris with 5 CPU instead of 8.",
      decisionID: "dec-1",
      attempts: 1,
    });
  });

  test("keeps its last line however many clusters there are", () => {
    const reasons = Array.from({ length: 64 }, (_, index) => ({
      clusterID: `cluster-${index}`,
      reason: "capacity",
      message: "x".repeat(512),
    }));
    const fault = new Fault("no-capacity", "no", {
      details: { reasons, flip: "Would fit paris without GPU." },
    });
    const { explanation = "" } = planRefusal(state(), fault).status;
    expect(explanation.length).toBe(16_384);
    expect(explanation.split("\n").at(-1)).toBe("Would fit paris without GPU.");
  });

  test("does not make it wait for hours because a clock was set back", () => {
    const request = withStatus({
      phase: "Pending",
      attempts: 1,
      nextAttemptTime: formatTime(NOW + 3_600_000),
    });
    expect(planRequest(state({ request })).ask).toBeDefined();
  });

  test("makes a request that queues wait for the next attempt", () => {
    const request = withStatus(undefined, { queue: true });
    const plan = planRefusal(state({ request }), noCapacity);
    expect(plan.requeueAfterMs).toBe(QUEUE_RETRY_MS);
    expect(plan.status).toMatchObject({
      phase: "Pending",
      attempts: 1,
      nextAttemptTime: formatTime(NOW + QUEUE_RETRY_MS),
      explanation: "paris: needs 3 more CPU\nWould fit paris with 5 CPU instead of 8.",
    });
    const waiting = withStatus(plan.status, { queue: true });
    expect(planRequest(state({ request: waiting, now: NOW + 10_000 }))).toEqual({ requeueAfterMs: 20_000 });
    expect(planRequest(state({ request: waiting, now: NOW + 10_000, isRequeued: true })).ask?.key).toBe(
      `${UID}-2`,
    );
    expect(planRequest(state({ request: waiting, now: NOW + QUEUE_RETRY_MS })).ask?.key).toBe(`${UID}-2`);
  });

  test.each([
    ["ttl-too-long", "Failed", "Invalid"],
    ["priority-too-high", "Failed", "Invalid"],
    ["invalid", "Failed", "Invalid"],
    ["unsupported", "Failed", "Invalid"],
    ["quota-exceeded", "Failed", "NoCapacity"],
  ] as const)("%s is final", (code, phase, reason) => {
    const plan = planRefusal(state(), new Fault(code, "no"));
    expect(plan.status).toMatchObject({ phase, reason });
    expect(planRequest(state({ request: withStatus(plan.status) }))).toEqual({});
  });

  test.each([
    ["unreachable", "BrokerUnreachable"],
    ["rate-limited", "BrokerBusy"],
    ["queue-full", "QueueFull"],
    ["internal", "BrokerUnavailable"],
    ["store-unavailable", "BrokerUnavailable"],
    ["forbidden", "BrokerRefusesAgent"],
  ] as const)("%s decides nothing: the same key is used again", (code, reason) => {
    const plan = planRefusal(state(), new Fault(code, "no"));
    expect(plan.isUnanswered).toBe(true);
    expect(plan.status.phase).toBe("Pending");
    expect(condition(plan.status, "Reserved")?.reason).toBe(reason);
    expect(planRequest(state({ request: withStatus(plan.status) })).ask?.key).toBe(`${UID}-1`);
  });

  test.each(["key-released", "key-mismatch"] as const)("with %s uses the next key", (code) => {
    const plan = planRefusal(state(), new Fault(code, "no"));
    expect(planRequest(state({ request: withStatus(plan.status) })).ask?.key).toBe(`${UID}-2`);
  });
});

describe("what an ended reservation led to", () => {
  const cached = cachedOf("requester", ended("Expired"));
  const working = {
    kind: "working",
    reason: "Draining",
    message: "2 pods are left",
    retryAfterMs: 1,
  } as const;
  const clean = (changes: Partial<RequestState>) =>
    condition(planRequest(state({ entry: cached, ...changes })).status, "Clean");

  test.each<[string, RequestState["release"], object]>([
    ["is about to be taken down", undefined, { status: "False", reason: "Releasing" }],
    ["is being taken down", working, { status: "False", reason: "Draining", message: "2 pods are left" }],
    ["is gone", { kind: "clean" }, { status: "True", reason: "NothingLeft" }],
  ])("%s, and the request says so, also after it said that it is over", (_, release, expected) => {
    expect(clean({ release })).toMatchObject(expected);
    const before = release === undefined ? working : undefined;
    const over = planRequest(state({ entry: cached, release: before })).status;
    expect(clean({ request: withStatus(over), release })).toMatchObject(expected);
  });

  test("is dated from the start of its step, though the status stays False", () => {
    const about = planRequest(state({ entry: cached })).status;
    const begun = { request: withStatus(about), release: working, now: NOW + 1000 };
    expect(clean(begun)?.lastTransitionTime).toBe(formatTime(NOW + 1000));
    const draining = planRequest(state({ entry: cached, ...begun })).status;
    const release = { ...working, message: "1 pod is left" };
    const later = clean({ request: withStatus(draining), release, now: NOW + 2000 });
    expect(later).toMatchObject({ message: release.message, lastTransitionTime: formatTime(NOW + 1000) });
  });
});
