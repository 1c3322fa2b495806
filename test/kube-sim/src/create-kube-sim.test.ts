import { randomBytes } from "node:crypto";
import type { Clock } from "@resource-broker/base";
import { fakeClock, settle } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKubeSim } from "./create-kube-sim.ts";
import type { KubeSim, SimCluster } from "./kube-sim.ts";
import { type SimClient, simClient } from "./server/testing/sim-client.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string): string => JSON.stringify({ metadata: { name }, data: { a: "b" } });

let clock: ReturnType<typeof fakeClock>;
/** What was put off, and by how much. */
let delays: number[];
let sim: KubeSim;
let cluster: SimCluster;
let client: SimClient;

beforeEach(async () => {
  clock = fakeClock();
  delays = [];
  const after: Clock["after"] = (delayMs, action) => {
    delays.push(delayMs);
    return clock.after(delayMs, action);
  };
  sim = createKubeSim({ clock: { ...clock, after }, randomBytes });
  cluster = await sim.addCluster({ name: "rome" });
  client = simClient(cluster);
});

afterEach(async () => {
  client.close();
  await sim.stop();
});

const create = (name: string) => client.call(CONFIG_MAPS, { method: "POST", body: configMap(name) });
const versionNow = async (): Promise<string> => {
  const { metadata } = (await client.call(CONFIG_MAPS)).json();
  return (metadata as { resourceVersion: string }).resourceVersion;
};

describe("many clusters", () => {
  test("clusters do not share objects, tokens or authorities", async () => {
    const paris = await sim.addCluster({ name: "paris" });
    await create("only-here");
    const parisian = simClient(paris);
    const reply = await parisian.call(`${CONFIG_MAPS}/only-here`);
    parisian.close();
    expect(reply.status).toBe(404);
    expect(paris.token).not.toBe(cluster.token);
    await expect(simClient({ ...cluster, url: paris.url }).call("/version")).rejects.toThrow(/certificate/u);
  });

  test("a name is given once, and again after its cluster has stopped", async () => {
    await expect(sim.addCluster({ name: "rome" })).rejects.toThrow(/there is a cluster "rome" already/u);
    await cluster.stop();
    expect(sim.clusters()).toEqual([]);
    await expect(sim.addCluster({ name: "rome" })).resolves.toMatchObject({ name: "rome" });
  });

  test("a name that fits no kubeconfig is refused", async () => {
    await expect(sim.addCluster({ name: "Rome!" })).rejects.toThrow(/no cluster name/u);
  });

  test("the uid of kube-system tells clusters apart", async () => {
    const paris = await sim.addCluster({ name: "paris" });
    expect(uidOfSystem(paris)).not.toBe(uidOfSystem(cluster));
  });
});

function uidOfSystem({ api }: SimCluster): unknown {
  const definition = api.definitions().find(({ plural }) => plural === "namespaces");
  if (definition === undefined) throw new Error("there are no namespaces");
  const { metadata } = api.get({ definition, name: "kube-system" });
  return (metadata as { uid: string }).uid;
}

describe("seeding", () => {
  test("objects are there with their status before the first answer", async () => {
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n" },
      status: { capacity: { cpu: "2" } },
    };
    const oslo = await sim.addCluster({ name: "oslo", objects: [node] });
    const reply = await simClient(oslo).call("/api/v1/nodes/n");
    expect(reply.json()).toMatchObject({ status: { capacity: { cpu: "2" } } });
  });

  test("a kind that is not served is refused by name", () => {
    const object = { apiVersion: "example.com/v1", kind: "Unicorn", metadata: { name: "u" } };
    expect(() => cluster.seed([object])).toThrow(/no kind "Unicorn" in version "example\.com\/v1"/u);
  });

  test("seeding again replaces", async () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" } };
    cluster.seed([{ ...object, data: { a: "1" } }]);
    cluster.seed([{ ...object, data: { b: "2" } }]);
    expect((await client.call(`${CONFIG_MAPS}/c`)).json()).toMatchObject({ data: { b: "2" } });
  });
});

describe("faults", () => {
  test("latency holds every reply back by the passed clock", async () => {
    cluster.faults.setLatency(5000);
    let isHere = false;
    const reply = client.call("/version").then((answer) => {
      isHere = true;
      return answer;
    });
    while (!delays.includes(5000)) await settle();
    await clock.advance(4999);
    expect(isHere).toBe(false);
    await clock.advance(1);
    expect((await reply).status).toBe(200);
  });

  test("failNext fails so many requests that match, and no others", async () => {
    cluster.faults.failNext({
      times: 2,
      status: 503,
      verb: "create",
      plural: "configmaps",
      retryAfterSeconds: 7,
    });
    const replies = [await create("a"), await client.call(CONFIG_MAPS), await create("b"), await create("c")];
    expect(replies.map(({ status }) => status)).toEqual([503, 200, 503, 201]);
    expect(replies[0]?.headers["retry-after"]).toBe("7");
    expect(replies[0]?.json()).toMatchObject({ kind: "Status", status: "Failure", code: 503 });
  });

  test("failNext can say why", async () => {
    cluster.faults.failNext({ times: 1, status: 409, reason: "AlreadyExists" });
    expect((await create("a")).json()).toMatchObject({ reason: "AlreadyExists", code: 409 });
  });

  test("cut breaks open watches, and the next connection works", async () => {
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${await versionNow()}`);
    cluster.faults.cut();
    expect(await watch.next()).toBeUndefined();
    expect((await client.call("/version")).status).toBe(200);
  });

  test("a paused server answers nothing and continues where it was", async () => {
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${await versionNow()}`);
    cluster.faults.pause();
    cluster.seed([
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "meanwhile", namespace: "default" } },
    ]);
    let answered = 0;
    const event = watch.next().then((found) => {
      answered++;
      return found;
    });
    const reply = client.call("/version").then((found) => {
      answered++;
      return found;
    });
    await clock.advance(60_000);
    expect(answered).toBe(0);
    cluster.faults.resume();
    expect(await event).toMatchObject({ type: "ADDED", object: { metadata: { name: "meanwhile" } } });
    expect((await reply).status).toBe(200);
    watch.close();
  });

  test("down refuses connections and up listens on the same port with everything kept", async () => {
    await create("kept");
    await cluster.faults.down();
    await expect(client.call("/version")).rejects.toThrow(/ECONNREFUSED/u);
    await cluster.faults.up();
    expect((await client.call(`${CONFIG_MAPS}/kept`)).status).toBe(200);
  });

  test("after compact an old version is gone, told inside the stream", async () => {
    const old = await versionNow();
    await create("a");
    await create("b");
    cluster.faults.compact();
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${old}`);
    expect(watch.status).toBe(200);
    expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(await watch.next()).toBeUndefined();
  });

  test("shiftClock makes the server's clock run ahead", async () => {
    cluster.faults.shiftClock(3_600_000);
    expect((await create("later")).json()).toMatchObject({
      metadata: { creationTimestamp: "2026-01-05T13:00:00Z" },
    });
  });
});
