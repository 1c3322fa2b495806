import { Fault } from "@resource-broker/base";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { type ClusterEvent, EVENTS } from "../resource/resources.ts";
import { fakeKube } from "../testing/fake-kube-client.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import type { EventInput } from "./event-body.ts";
import { eventRecorder } from "./event-recorder.ts";

const MINUTE = 60_000;
const GRANTED: EventInput = {
  regarding: {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    namespace: "lab",
    name: "training",
    uid: "u-1",
  },
  type: "Normal",
  reason: "Granted",
  message: "Use paris for 4 CPU / 8Gi Memory",
};

const HOSTILE = "\u001b[2J\u202eemor";

function world(capacity?: number) {
  const time = fakeClock();
  const kube = fakeKube({ clock: time });
  const link = kube.connect();
  const log = recordedLog();
  const options = { component: "resource-broker-agent", instance: "agent-0" };
  const recorder = eventRecorder(capacity === undefined ? options : { ...options, capacity }, {
    client: link.client,
    clock: time,
    random: () => 0.25,
    log,
  });
  const events = () => kube.store.objects(EVENTS) as readonly ClusterEvent[];
  return { time, store: kube.store, link, log, recorder, events };
}

describe("the event recorder", () => {
  test("writes a core event beside the object that it is about", async () => {
    const { time, recorder, events } = world();
    recorder.record(GRANTED);
    await time.advance(1);
    expect(events()).toEqual([
      {
        apiVersion: "v1",
        kind: "Event",
        metadata: {
          name: "training.4000000040000000",
          namespace: "lab",
          uid: expect.anything(),
          resourceVersion: expect.anything(),
        },
        involvedObject: GRANTED.regarding,
        type: "Normal",
        reason: "Granted",
        message: "Use paris for 4 CPU / 8Gi Memory",
        count: 1,
        firstTimestamp: "2026-01-05T12:00:00Z",
        lastTimestamp: "2026-01-05T12:00:00Z",
        source: { component: "resource-broker-agent" },
        reportingComponent: "resource-broker-agent",
        reportingInstance: "agent-0",
      },
    ]);
  });

  test("tells it again after ten minutes", async () => {
    const { time, recorder, events, store } = world();
    recorder.record(GRANTED);
    await time.advance(10 * MINUTE);
    store.delete(EVENTS, { namespace: "lab", name: "training.4000000040000000" });
    recorder.record(GRANTED);
    await time.advance(1);
    expect(events()).toMatchObject([{ count: 1, firstTimestamp: "2026-01-05T12:10:00Z" }]);
  });

  test("creates an event again that the server has forgotten", async () => {
    const { time, recorder, events, store } = world();
    recorder.record(GRANTED);
    await time.advance(MINUTE);
    store.delete(EVENTS, { namespace: "lab", name: "training.4000000040000000" });
    recorder.record(GRANTED);
    await time.advance(MINUTE);
    expect(events()).toMatchObject([{ count: 1 }]);
  });

  test("leaves one event behind when the answer to the first try was lost", async () => {
    const { time, recorder, events, link } = world();
    link.failNext({ verb: "create", isDone: true, fault: new Fault("unreachable", "reset") });
    recorder.record(GRANTED);
    await time.advance(MINUTE);
    recorder.record(GRANTED);
    await time.advance(MINUTE);
    expect(events()).toMatchObject([{ count: 2 }]);
  });

  test.each<[string, Partial<EventInput["regarding"]>, string, string]>([
    ["of no namespace", { name: "node-1" }, "default", "node-1.4000000040000000"],
    [
      "with a name that no event may have",
      { name: "system:Node_A-" },
      "default",
      "system-node-a.4000000040000000",
    ],
    ["with the longest name", { name: "x".repeat(253) }, "default", `${"x".repeat(236)}.4000000040000000`],
  ])("finds a place and a name for an object %s", async (_, regarding, namespace, name) => {
    const { time, recorder, events } = world();
    recorder.record({ ...GRANTED, regarding: { name: "", ...regarding } });
    await time.advance(1);
    expect(events()).toMatchObject([{ metadata: { namespace, name } }]);
  });

  test.each([
    ["plain", "x".repeat(2000), `${"x".repeat(1021)}…`],
    ["of wide characters", "€".repeat(2000), `${"€".repeat(340)}…`],
    ["of pairs", "😀".repeat(600), `${"😀".repeat(255)}…`],
    ["just short enough", "x".repeat(1024), "x".repeat(1024)],
  ])("cuts a message that is too long: %s", async (_, message, cut) => {
    const { time, recorder, events } = world();
    recorder.record({ ...GRANTED, message });
    await time.advance(1);
    expect(events()[0]?.message).toBe(cut);
  });

  test("gives up what nobody takes, reports it once, and holds nobody up", async () => {
    const { time, recorder, link, log, events } = world();
    link.failNext({ verb: "create", times: 50, fault: new Fault("forbidden", 'may not "create" events') });
    for (let step = 0; step < 50; step++) recorder.record({ ...GRANTED, reason: `Reason${step}` });
    await time.advance(MINUTE);
    expect(log.lines).toHaveLength(1);
    recorder.record(GRANTED);
    await time.advance(1);
    expect(events()).toHaveLength(1);
  });

  test("drops new events, and says so once, when too many wait", async () => {
    const { time, recorder, link, log, events } = world(3);
    link.pause();
    for (let step = 0; step < 10; step++) recorder.record({ ...GRANTED, regarding: { name: `pod-${step}` } });
    link.resume();
    await time.advance(1);
    expect(events()).toHaveLength(3);
    expect(log.lines).toEqual(["warn too many pending events: new ones are dropped"]);
    recorder.record({ ...GRANTED, regarding: { name: "later" } });
    await time.advance(1);
    expect(events()).toHaveLength(4);
  });

  test("is not held up by a silent server when it stops", async () => {
    const { time, recorder, link } = world();
    link.pause();
    for (let step = 0; step < 100; step++)
      recorder.record({ ...GRANTED, regarding: { name: `pod-${step}` } });
    let isStopped = false;
    void recorder.stop().then(() => {
      isStopped = true;
    });
    await time.advance(10_000);
    expect(isStopped).toBe(true);
  });
});

test("a message holds nothing that a terminal obeys", async () => {
  const { time, recorder, events } = world();
  recorder.record({ ...GRANTED, message: HOSTILE });
  await time.advance(MINUTE);
  expect(events().map(({ message }) => message)).toEqual(["\\u{1b}[2J\\u{202e}emor"]);
});
