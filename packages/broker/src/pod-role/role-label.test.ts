import { type KubeClient, PODS } from "@resource-broker/kube";
import type { Log } from "@resource-broker/runtime";
import { type FakeTime, fakeTime, simulatedKube, until } from "@resource-broker/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { podRole } from "./pod-role.ts";
import type { RoleLabel } from "./role-label.ts";

const LABEL = "broker.fluidos.eu/role";
const kube = await simulatedKube();
afterAll(() => kube.dispose());

let pods = 0;
let pod: { readonly name: string; readonly namespace: string };
let machine: FakeTime;
let lines: string[];
/** What becomes of the next patches; those after them arrive. */
let fates: ("refused" | "answer-lost" | "hangs")[];
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
const troubled: KubeClient = {
  ...kube.client,
  patch: async (resource, change, options) => {
    patches += 1;
    const fate = fates.shift();
    if (fate === "refused") throw new Error("may not patch pods");
    if (fate === "hangs") await givenUp(options?.signal);
    const patched = await kube.client.patch(resource, change, options);
    if (fate === "answer-lost") throw new Error("the answer is lost");
    return patched;
  },
};

beforeEach(async () => {
  pods += 1;
  pod = { name: `broker-${pods}`, namespace: "default" };
  machine = fakeTime();
  [lines, fates, patches] = [[], [], 0];
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...pod, labels: { app: "broker", [LABEL]: "leader" } },
    spec: { containers: [{ name: "broker", image: "broker" }] },
  };
  await kube.client.create(PODS, object);
});

function label(name = pod.name): RoleLabel {
  const role = podRole(
    { "pod-role-label": LABEL },
    {
      env: { POD_NAME: name, POD_NAMESPACE: pod.namespace },
      open: () => Promise.resolve({ client: troubled }),
      machine,
      random: () => 0.5,
      log,
    },
  );
  if (role === undefined) throw new Error("a label is wanted");
  return role;
}

async function labels(): Promise<Readonly<Record<string, string>> | undefined> {
  return (await kube.client.get(PODS, pod)).metadata?.labels;
}

/** The fake clock stands still while the server answers: it is moved when there is something to wait for. */
async function passing<T>(milliseconds: number, what: Promise<T>): Promise<T> {
  await machine.advance(milliseconds);
  return what;
}

describe("a pod's role label", () => {
  test("says standby from the start, whatever an earlier life left there, then leader, then standby", async () => {
    const role = label();
    await role.show("standby");
    expect(await labels()).toEqual({ app: "broker", [LABEL]: "standby" });
    await role.show("leader");
    expect(await labels()).toEqual({ app: "broker", [LABEL]: "leader" });
    await role.stop();
    expect(await labels()).toEqual({ app: "broker", [LABEL]: "standby" });
    expect(lines).toEqual([]);
  });

  test("is tried until it is there, and people hear of it once", async () => {
    fates = ["refused", "refused", "refused"];
    const role = label();
    await passing(1000, role.show("leader"));
    await until("it is labelled", async () => {
      await machine.advance(1000);
      return (await labels())?.[LABEL] === "leader" && lines.length > 1 ? true : undefined;
    });
    expect(lines).toEqual([
      expect.stringMatching(
        /^labelling the pod with its role .* fails: may not patch pods; it is tried again/,
      ),
      expect.stringMatching(/works again$/),
    ]);
    await role.stop();
  });

  test("keeps nobody from leading: after a second it is not waited for", async () => {
    fates = ["hangs", "hangs"];
    const role = label();
    await passing(1000, role.show("leader"));
    expect((await labels())?.[LABEL]).toBe("leader"); // of an earlier life
    await passing(1000, role.stop());
  });

  test("gives up a try for a role that is no longer wanted", async () => {
    fates = ["hangs"];
    const role = label();
    void role.show("standby");
    await until("it is tried", async () => (patches === 1 ? true : undefined));
    await role.show("leader");
    expect((await labels())?.[LABEL]).toBe("leader");
    expect([patches, lines]).toEqual([2, []]);
    await role.stop();
  });

  test("is written again when nobody knows whether it was", async () => {
    const role = label();
    await role.show("standby");
    fates = ["answer-lost"];
    void role.show("leader");
    await until("it was written", async () => ((await labels())?.[LABEL] === "leader" ? true : undefined));
    await role.show("standby");
    expect((await labels())?.[LABEL]).toBe("standby");
    await role.stop();
  });

  test("comes back when somebody takes it away", async () => {
    const role = label();
    await role.show("leader");
    const body = { metadata: { labels: { [LABEL]: null } } };
    await kube.client.patch(PODS, { name: pod, patch: { kind: "merge", body } });
    await machine.advance(30_000);
    const back = await until("it is back", async () => (await labels())?.[LABEL]);
    expect(back).toBe("leader");
    await role.stop();
  });

  test("ends also where the pod is gone, and shows nothing after that", async () => {
    const role = label("nobody");
    void role.show("leader");
    await until("it was tried", async () => (lines.length > 0 ? true : undefined));
    await passing(1000, role.stop());
    const tried = patches;
    await role.show("leader");
    await machine.advance(60_000);
    expect(patches).toBe(tried);
  });

  test("has nothing to end where it was never shown", async () => {
    await label().stop();
    expect(patches).toBe(0);
  });
});

describe("whoever stands by is not ready while its label may still say leader", () => {
  test("and is when it says standby", async () => {
    fates = ["refused"];
    const role = label();
    void role.show("standby");
    expect(role.check.problem()).toBe("the pod is not labelled as a standby yet");
    await until("it is labelled", async () => {
      await machine.advance(1000);
      return role.check.problem() === undefined || undefined;
    });
    expect((await labels())?.[LABEL]).toBe("standby");
    await role.stop();
  });

  test("but a leader without its label is: who asks it directly is answered", async () => {
    fates = ["refused"];
    const role = label();
    void role.show("leader");
    expect(role.check.problem()).toBeUndefined();
    await role.stop();
  });
});

test("without the flag there is no label", () => {
  const open = () => Promise.reject(new Error("nobody asks"));
  expect(podRole({ "pod-role-label": "" }, { env: {}, open, machine, random: () => 0, log })).toBeUndefined();
});
