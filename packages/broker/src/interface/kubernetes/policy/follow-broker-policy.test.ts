import { randomBytes } from "node:crypto";
import { Fault } from "@resource-broker/base";
import { type BrokerPolicy, brokerPolicyKind } from "@resource-broker/contract/crd";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { CUSTOM_RESOURCE_DEFINITIONS, customResource, NAMESPACES } from "@resource-broker/kube";
import { createKubeSim } from "@resource-broker/kube-sim";
import { fakeClock } from "@resource-broker/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { policyInForce } from "../../../policy/policy.ts";
import { definitions, namespaceObject } from "../testing/environment.ts";
import { NAMESPACE } from "../testing/samples.ts";
import { directClient } from "../testing/direct-client.ts";
import { followBrokerPolicy } from "./follow-broker-policy.ts";

const POLICIES = customResource(brokerPolicyKind);
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function world(first: readonly Spec[] = []) {
  const time = fakeClock();
  const kubeSim = createKubeSim({ clock: time, randomBytes });
  endings.push(kubeSim.stop);
  const sim = await kubeSim.addCluster({
    name: "central",
    behaves: false,
    objects: [...definitions(), namespaceObject()],
  });
  const people = directClient(sim.api, () => undefined);
  const lines: string[] = [];
  const versions: string[] = [];
  const note = (_: unknown, message: string) => void lines.push(message);
  const log = { info: note, warn: note, error: note };
  let policy: Policy = DEFAULT_POLICY;
  const force = policyInForce({
    use: (loaded) => {
      policy = loaded.policy;
      versions.push(loaded.policy.version);
    },
    log: { info: () => undefined, warn: note, error: note },
  });
  let reported: string | undefined;
  let isDown = false;
  let writes = 0;
  const client = directClient(sim.api, ({ verb }) => {
    if (isDown) return { fault: new Fault("unreachable", "away"), isDone: false };
    if (verb === "apply") writes++;
    return undefined;
  });
  const put = async (name: string, spec: BrokerPolicy["spec"]): Promise<void> => {
    const metadata = { namespace: NAMESPACE, name };
    await people.apply(POLICIES, { metadata, spec }, { fieldManager: "kubectl", force: true });
  };
  for (const { name, spec } of first) await put(name, spec);
  const follower = followBrokerPolicy(
    { namespace: NAMESPACE },
    {
      client,
      clock: time,
      random: () => 0.5,
      log,
      isLeading: () => true,
      onPolicy: force.fromObject,
      reportPolicy: (problem) => void (reported = problem),
      engine: {
        now: time.wallMs,
        get policy() {
          return policy;
        },
      },
    },
  );
  endings.push(follower.stop);
  return {
    time,
    sim,
    people,
    force,
    versions,
    lines,
    put,
    follower,
    reported: () => reported,
    remove: (name: string) => people.delete(POLICIES, { namespace: NAMESPACE, name }),
    status: async (name: string) => (await people.find(POLICIES, { namespace: NAMESPACE, name }))?.status,
    writes: () => writes,
    goDown: () => {
      isDown = true;
      client.cut();
    },
    goUp: () => {
      isDown = false;
    },
  };
}

interface Spec {
  readonly name: string;
  readonly spec: BrokerPolicy["spec"];
}

/** It passes the API server's rules, but means nothing: the weight has no marks. */
const MEANINGLESS = { version: "bad", weights: { latency: 1 } };

describe("a BrokerPolicy", () => {
  test("is in force at the start, and again on every change, and says so", async () => {
    const { follower, put, versions, status, time, force } = await world([
      { name: "default", spec: { version: "v1", staleness: "1m", sliceDefaults: { pods: 50 } } },
    ]);
    await follower.start();
    expect(versions).toEqual(["v1"]);
    expect(force.now()).toMatchObject({
      source: "BrokerPolicy broker/default",
      policy: { stalenessMs: 60_000 },
      sliceDefaults: { pods: 50 },
    });
    await put("default", { version: "v2", quotas: { rome: { cpu: "4" } }, disclosure: "reasons" });
    await time.advance(2000);
    expect(versions).toEqual(["v1", "v2"]);
    expect(force.now().policy).toMatchObject({
      stalenessMs: DEFAULT_POLICY.stalenessMs,
      quotas: { rome: { cpuMillis: 4000 } },
      disclosure: "reasons",
    });
    expect(await status("default")).toMatchObject({
      inForce: true,
      version: "v2",
      observedGeneration: 2,
      message: "The broker follows version v2.",
      conditions: [{ type: "Ready", status: "True", reason: "InForce", observedGeneration: 2 }],
    });
  });

  test("that means nothing is not followed: the one before stays, and the status says why", async () => {
    const { follower, put, versions, status, time, lines, reported } = await world([
      { name: "default", spec: { version: "v1" } },
    ]);
    await follower.start();
    await put("default", MEANINGLESS);
    await time.advance(2000);
    expect(reported()).toMatch(/^BrokerPolicy broker\/default: .*weights\.latency/s);
    expect(versions).toEqual(["v1"]);
    const written = await status("default");
    expect(written).toMatchObject({
      inForce: false,
      version: "v1",
      observedGeneration: 2,
      conditions: [{ type: "Ready", status: "False", reason: "Invalid" }],
    });
    expect(written?.message).toContain("weights.latency");
    expect(written?.message).toContain("Version v1 (BrokerPolicy broker/default) stays in force");
    expect(lines).toEqual(["BrokerPolicy is not followed; the previous policy stays in force"]);
    await put("default", { version: "v3", weights: { cost: 1 } });
    await time.advance(2000);
    expect(versions).toEqual(["v1", "v3"]);
    expect(reported()).toBeUndefined();
    expect(await status("default")).toMatchObject({ inForce: true, version: "v3" });
  });

  test("of any name is followed while it is the only one", async () => {
    const { follower, put, versions, status, time, remove } = await world([
      { name: "summer", spec: { version: "s1" } },
    ]);
    await follower.start();
    await time.advance(2000);
    expect(versions).toEqual(["s1"]);
    await put("winter", { version: "w1" });
    await time.advance(2000);
    expect(await status("summer")).toMatchObject({ inForce: true });
    expect(await status("winter")).toMatchObject({
      inForce: false,
      message: "Not followed: the policy summer is in force. Only one policy is used at a time.",
    });
    await put("default", { version: "d1" });
    await time.advance(2000);
    expect(await status("summer")).toMatchObject({ inForce: false });
    expect(await status("default")).toMatchObject({ inForce: true, version: "d1" });
    await remove("default");
    await remove("summer");
    await time.advance(2000);
    expect(versions.at(-1)).toBe("w1");
    expect(await status("winter")).toMatchObject({ inForce: true });
  });

  test("is not guessed among several of which none is named default", async () => {
    const { follower, versions, status, time, reported } = await world([
      { name: "summer", spec: { version: "s1" } },
      { name: "winter", spec: { version: "w1" } },
    ]);
    await follower.start();
    expect(reported()).toContain("several BrokerPolicies");
    await time.advance(2000);
    expect(versions).toEqual([]);
    expect(await status("summer")).toMatchObject({
      inForce: false,
      conditions: [{ type: "Ready", status: "False", reason: "Ambiguous" }],
    });
  });

  test.each([
    {
      name: "the namespace",
      destroy: ({ people }: Awaited<ReturnType<typeof world>>) =>
        people.delete(NAMESPACES, { name: NAMESPACE }),
    },
    {
      name: "the definition",
      destroy: ({ people }: Awaited<ReturnType<typeof world>>) =>
        people.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: "brokerpolicies.broker.fluidos.eu" }),
    },
  ])("that went with $name stays in force, and is followed again when it is back", async ({ destroy }) => {
    const all = await world([{ name: "default", spec: { version: "v1" } }]);
    await all.follower.start();
    await destroy(all);
    await all.time.advance(120_000);
    expect(all.versions).toEqual(["v1"]);
    all.sim.seed([...definitions(), namespaceObject()]);
    await all.put("default", { version: "v2" });
    await all.time.advance(60_000);
    expect(all.versions).toEqual(["v1", "v2"]);
  });

  test("is waited for only for a while when the API server is away, and comes into force later", async () => {
    const { follower, versions, time, goDown, goUp } = await world([
      { name: "default", spec: { version: "v1" } },
    ]);
    goDown();
    const started = follower.start();
    await time.advance(6000);
    await started;
    expect(versions).toEqual([]);
    goUp();
    await time.advance(30_000);
    expect(versions).toEqual(["v1"]);
  });

  test("whose status somebody edits is put right, and not in a hurry", async () => {
    const { follower, status, time, people, writes } = await world([
      { name: "default", spec: { version: "v1" } },
    ]);
    await follower.start();
    await time.advance(2000);
    const before = writes();
    for (let each = 0; each < 20; each++) {
      const body = { status: { inForce: false, version: String(each) } };
      const name = { namespace: NAMESPACE, name: "default" };
      await people.patch(POLICIES, { name, patch: { kind: "merge", body } }, { subresource: "status" });
      await time.advance(50);
    }
    await time.advance(2000);
    expect(await status("default")).toMatchObject({ inForce: true, version: "v1" });
    expect(writes() - before).toBeLessThanOrEqual(4);
  });
});
