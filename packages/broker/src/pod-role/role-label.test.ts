import type { Log } from "@resource-broker/base";
import { type KubeClient, PODS } from "@resource-broker/kube";
import { type FakeClock, fakeClock, simulatedKube, until } from "@resource-broker/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { podRole, type RoleLabel } from "./role-label.ts";

const LABEL = "broker.fluidos.eu/role";
const kube = await simulatedKube();
afterAll(() => kube.dispose());

let pods = 0;
let pod: { readonly name: string; readonly namespace: string };
let clock: FakeClock;
let lines: string[];
/** What becomes of the next patches; those after them arrive. */
let faults: ("refused" | "answer-lost" | "hangs")[];
let patches: number;

const log: Log = {
  info: (_, message) => void lines.push(message),
  warn: (_, message) => void lines.push(message),
  error: (_, message) => void lines.push(message),
};

function givenUp(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(new Error("given up"));
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener("abort", giveUp);
  });
}

/** The client of the simulated cluster, with the patches going wrong as planned. */
const faultyClient: KubeClient = {
  ...kube.client,
  patch: async (resource, change, options) => {
    patches += 1;
    const fault = faults.shift();
    if (fault === "refused") throw new Error("may not patch pods");
    if (fault === "hangs") await givenUp(options?.signal);
    const patched = await kube.client.patch(resource, change, options);
    if (fault === "answer-lost") throw new Error("the answer is lost");
    return patched;
  },
};

beforeEach(async () => {
  clock = fakeClock();
  [lines, faults, patches] = [[], [], 0];
  pod = await newPod();
});

/** A pod that has led in an earlier life. */
async function newPod(): Promise<typeof pod> {
  pods += 1;
  const name = { name: `broker-${pods}`, namespace: "default" };
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...name, labels: { app: "broker", [LABEL]: "leader" } },
    spec: { containers: [{ name: "broker", image: "broker" }] },
  };
  await kube.client.create(PODS, object);
  return name;
}

function label(name = pod.name): RoleLabel {
  const role = podRole(
    { "pod-role-label": LABEL },
    {
      env: { POD_NAME: name, POD_NAMESPACE: pod.namespace },
      open: () => Promise.resolve({ client: faultyClient }),
      clock,
      random: () => 0.5,
      log,
    },
  );
  if (role === undefined) throw new Error("a label is wanted");
  return role;
}

async function labels(of = pod): Promise<Readonly<Record<string, string>> | undefined> {
  return (await kube.client.get(PODS, of)).metadata?.labels;
}

/** The fake clock stands still while the server answers: it is moved when there is something to wait for. */
async function passing<T>(milliseconds: number, what: Promise<T>): Promise<T> {
  await clock.advance(milliseconds);
  return what;
}

async function standsBy(role: RoleLabel): Promise<void> {
  role.standBy();
  await until("it is labelled as a standby", async () => role.check.problem() === undefined || undefined);
}

describe("a pod's role label", () => {
  test("says standby from the start, whatever an earlier life left there, then leader, then standby", async () => {
    const role = label();
    await standsBy(role);
    expect(await labels()).toEqual({ app: "broker", [LABEL]: "standby" });
    await role.lead("");
    expect(await labels()).toEqual({ app: "broker", [LABEL]: "leader" });
    await role.stop();
    expect(await labels()).toEqual({ app: "broker", [LABEL]: "standby" });
    expect(lines).toEqual([]);
  });

  test("is tried until it is there, and people hear of it once", async () => {
    faults = ["refused", "refused", "refused"];
    const role = label();
    await passing(1000, role.lead(""));
    await until("it is labelled", async () => {
      await clock.advance(1000);
      return (await labels())?.[LABEL] === "leader" && lines.length > 1 ? true : undefined;
    });
    expect(lines).toEqual([
      expect.stringMatching(/^labelling the pod with its role .* fails: may not patch pods; retrying/),
      expect.stringMatching(/works again$/),
    ]);
    await role.stop();
  });

  test("keeps nobody from leading: after a second it is not waited for", async () => {
    faults = ["hangs", "hangs"];
    const role = label();
    await passing(1000, role.lead(""));
    expect(patches).toBe(1);
    await passing(1000, role.stop());
  });

  test("gives up a try for a role that is no longer wanted", async () => {
    faults = ["hangs"];
    const role = label();
    role.standBy();
    await until("it is tried", async () => patches === 1 || undefined);
    await role.lead("");
    expect((await labels())?.[LABEL]).toBe("leader");
    expect([patches, lines]).toEqual([2, []]);
    await role.stop();
  });

  test("is written again when nobody knows whether it was", async () => {
    const role = label();
    await standsBy(role);
    faults = ["answer-lost"];
    void role.lead("");
    await until("it was written", async () => (await labels())?.[LABEL] === "leader" || undefined);
    await role.stop();
    expect((await labels())?.[LABEL]).toBe("standby");
  });

  test("comes back when somebody takes it away", async () => {
    const role = label();
    await role.lead("");
    const body = { metadata: { labels: { [LABEL]: null } } };
    await kube.client.patch(PODS, { name: pod, patch: { kind: "merge", body } });
    await clock.advance(30_000);
    const back = await until("it is back", async () => (await labels())?.[LABEL]);
    expect(back).toBe("leader");
    await role.stop();
  });

  test("ends also where the pod is gone, and shows nothing after that", async () => {
    const role = label("nobody");
    void role.lead("");
    await until("it was tried", async () => lines.length > 0 || undefined);
    await passing(1000, role.stop());
    const tried = patches;
    await role.lead("");
    await clock.advance(60_000);
    expect(patches).toBe(tried);
  });
});

describe("the last leader, whose node may be gone,", () => {
  test("is no longer labelled as one", async () => {
    const [predecessor, successor] = [pod, await newPod()];
    const role = label(successor.name);
    await role.lead(predecessor.name);
    await until(
      "it is a standby",
      async () => (await labels(predecessor))?.[LABEL] === "standby" || undefined,
    );
    expect((await labels(successor))?.[LABEL]).toBe("leader");
    await role.stop();
  });

  test.each([
    { name: "has no pod of its name", predecessor: () => "rome:8443", planned: [], tried: 2 },
    { name: "may not be labelled", predecessor: () => "another", planned: ["refused" as const], tried: 2 },
    { name: "is the pod itself, in an earlier life", predecessor: () => pod.name, planned: [], tried: 1 },
  ])("keeps nobody from leading where it $name", async ({ predecessor, planned, tried }) => {
    faults = [...planned];
    const role = label();
    await role.lead(predecessor());
    expect((await labels())?.[LABEL]).toBe("leader");
    await until("all were tried", async () => patches === tried || undefined);
    expect(lines).toHaveLength(planned.length);
    await role.stop();
  });
});

test("whoever stands by is not ready while its label may still say leader; a leader without its label is", async () => {
  faults = ["refused"];
  const role = label();
  role.standBy();
  expect(role.check.problem()).toBe("the pod is not labelled as a standby yet");
  await until("it is labelled", async () => {
    await clock.advance(1000);
    return role.check.problem() === undefined || undefined;
  });
  expect((await labels())?.[LABEL]).toBe("standby");
  faults = ["refused"];
  void role.lead("");
  expect(role.check.problem()).toBeUndefined();
  await role.stop();
});

test("without the flag there is no label", () => {
  const open = () => Promise.reject(new Error("nobody asks"));
  expect(podRole({ "pod-role-label": "" }, { env: {}, open, clock, random: () => 0, log })).toBeUndefined();
});
