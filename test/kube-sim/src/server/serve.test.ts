import { randomBytes } from "node:crypto";
import { fakeClock } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKubeSim } from "../create-kube-sim.ts";
import type { SimCluster } from "../kube-sim.ts";
import { type SimCall, type SimClient, type SimReply, simClient } from "./testing/sim-client.ts";

const clock = fakeClock();
const sim = createKubeSim({ clock, randomBytes });
const PODS = "/api/v1/namespaces/default/pods";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "main", image: "i:1" }] },
};
let cluster: SimCluster;
let client: SimClient;

beforeAll(async () => {
  cluster = await sim.addCluster({ name: "rome", objects: [pod], behaves: false });
  client = simClient(cluster);
});

afterAll(async () => {
  client.close();
  await sim.stop();
});

describe("who gets in", () => {
  test("without certificate or token nobody does", async () => {
    const reply = await client.call("/api/v1/pods", { isAnonymous: true });
    expect(reply.status).toBe(401);
    expect(reply.json()).toMatchObject({ kind: "Status", reason: "Unauthorized", code: 401 });
  });

  test("with the cluster's token everybody does", async () => {
    const headers = { authorization: `Bearer ${cluster.token}` };
    expect((await client.call("/api/v1/pods", { isAnonymous: true, headers })).status).toBe(200);
  });

  test("a wrong token is no token", async () => {
    const headers = { authorization: `Bearer ${"0".repeat(cluster.token.length)}` };
    expect((await client.call("/api/v1/pods", { isAnonymous: true, headers })).status).toBe(401);
  });

  const account = "/api/v1/namespaces/default/serviceaccounts";
  const asAgent = async (seconds?: number): Promise<SimReply> => {
    await client.call(account, {
      method: "POST",
      body: JSON.stringify({ metadata: { name: "agent-rome" } }),
    });
    const spec = seconds === undefined ? {} : { expirationSeconds: seconds };
    return client.call(`${account}/agent-rome/token`, { method: "POST", body: JSON.stringify({ spec }) });
  };
  const with_ = (reply: SimReply): SimCall => {
    const { token } = reply.json()["status"] as { token: string };
    return { isAnonymous: true, headers: { authorization: `Bearer ${token}` } };
  };
  const whoAmI = (call: SimCall): Promise<SimReply> =>
    client.call("/apis/authentication.k8s.io/v1/selfsubjectreviews", { ...call, method: "POST", body: "{}" });

  test("with a token of a service account that one does, and is told who it is", async () => {
    const reply = await whoAmI(with_(await asAgent()));
    expect(reply.json()["status"]).toEqual({
      userInfo: {
        username: "system:serviceaccount:default:agent-rome",
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      },
    });
  });

  test("a token lasts as long as was asked for, and not a second longer", async () => {
    const given = await asAgent(7200);
    expect(given.json()).toMatchObject({ kind: "TokenRequest", spec: { expirationSeconds: 7200 } });
    cluster.faults.shiftClock(7_199_000);
    expect((await whoAmI(with_(given))).status).toBe(201);
    cluster.faults.shiftClock(7_200_000);
    expect((await whoAmI(with_(given))).status).toBe(401);
    cluster.faults.shiftClock(0);
  });

  test("a token ends with its account, also when that comes back", async () => {
    const given = await asAgent();
    await client.call(`${account}/agent-rome`, { method: "DELETE" });
    expect((await whoAmI(with_(given))).status).toBe(401);
    expect((await whoAmI(with_(await asAgent()))).status).toBe(201);
    expect((await whoAmI(with_(given))).status).toBe(401);
  });

  test("a token that was tampered with is none", async () => {
    const { token } = (await asAgent()).json()["status"] as { token: string };
    const [claims = "", signature = ""] = token.split(".");
    const other = Buffer.from(claims, "base64url").toString("utf8").replace("agent-rome", "default");
    const authorization = `Bearer ${Buffer.from(other).toString("base64url")}.${signature}`;
    expect((await whoAmI({ isAnonymous: true, headers: { authorization } })).status).toBe(401);
  });

  test("a token for less than ten minutes is refused, and one of nobody is not found", async () => {
    expect((await asAgent(60)).json()).toMatchObject({
      code: 422,
      message: expect.stringContaining("may not specify a duration less than 10 minutes"),
    });
    const missing = await client.call(`${account}/nobody/token`, { method: "POST", body: "{}" });
    expect(missing.status).toBe(404);
  });

  test.each(["/version", "/healthz", "/readyz", "/livez"])("%s tells everybody", async (path) => {
    expect((await client.call(path, { isAnonymous: true })).status).toBe(200);
  });
});

interface RefusedRow {
  readonly name: string;
  readonly path: string;
  readonly call?: SimCall;
  readonly status: number;
  readonly reason: string;
  readonly message?: RegExp;
}

const post = (body: string, type?: string): SimCall => ({
  method: "POST",
  body,
  ...(type === undefined ? {} : { type }),
});

const REFUSED: readonly RefusedRow[] = [
  { name: "an unknown path", path: "/nowhere", status: 404, reason: "NotFound" },
  { name: "an unknown group", path: "/apis/example.com/v1", status: 404, reason: "NotFound" },
  { name: "an unknown kind", path: "/api/v1/unicorns", status: 404, reason: "NotFound" },
  { name: "a version that is not served", path: "/api/v2/pods", status: 404, reason: "NotFound" },
  { name: "an unknown subresource", path: `${PODS}/web/log`, status: 404, reason: "NotFound" },
  {
    name: "a kind without namespaces inside one",
    path: "/api/v1/namespaces/default/nodes",
    status: 404,
    reason: "NotFound",
  },
  { name: "an object without its namespace", path: "/api/v1/pods/web", status: 404, reason: "NotFound" },
  {
    name: "an object that is not there",
    path: `${PODS}/gone`,
    status: 404,
    reason: "NotFound",
    message: /^pods "gone" not found$/u,
  },
  {
    name: "a method that a collection has not",
    path: PODS,
    call: { method: "PUT", body: "{}" },
    status: 405,
    reason: "MethodNotAllowed",
  },
  {
    name: "a method that an object has not",
    path: `${PODS}/web`,
    call: post("{}"),
    status: 405,
    reason: "MethodNotAllowed",
  },
  {
    name: "creation in no namespace",
    path: "/api/v1/pods",
    call: post("{}"),
    status: 405,
    reason: "MethodNotAllowed",
  },
  { name: "writing discovery", path: "/apis", call: post("{}"), status: 405, reason: "MethodNotAllowed" },
  {
    name: "a type nobody can write",
    path: PODS,
    call: { headers: { accept: "text/html" } },
    status: 406,
    reason: "NotAcceptable",
    message: /application\/json/u,
  },
  {
    name: "protobuf of a kind that has none",
    path: CONFIG_MAPS,
    call: { headers: { accept: "application/vnd.kubernetes.protobuf" } },
    status: 406,
    reason: "NotAcceptable",
  },
  {
    name: "a body of an unknown type",
    path: CONFIG_MAPS,
    call: post("<a/>", "text/xml"),
    status: 415,
    reason: "UnsupportedMediaType",
  },
  {
    name: "a patch of an unknown type",
    path: `${PODS}/web`,
    call: { method: "PATCH", body: "{}", type: "application/json" },
    status: 415,
    reason: "UnsupportedMediaType",
  },
  { name: "a body that is not JSON", path: CONFIG_MAPS, call: post("{"), status: 400, reason: "BadRequest" },
  {
    name: "a body that is no object",
    path: CONFIG_MAPS,
    call: post("[]"),
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "a body of another kind",
    path: CONFIG_MAPS,
    call: post(JSON.stringify(pod)),
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "a body that is too large",
    path: CONFIG_MAPS,
    call: post(`{"data":{"a":"${"x".repeat(3_200_000)}"}}`),
    status: 413,
    reason: "RequestEntityTooLarge",
  },
  {
    name: "protobuf that is none",
    path: CONFIG_MAPS,
    call: post("k8s\0\xff\xff", "application/vnd.kubernetes.protobuf"),
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "a misspelt parameter",
    path: `${PODS}?labelselector=a`,
    status: 400,
    reason: "BadRequest",
    message: /unknown query parameter "labelselector"/u,
  },
  {
    name: "an unknown fieldValidation",
    path: `${CONFIG_MAPS}?fieldValidation=Harsh`,
    call: post("{}"),
    status: 400,
    reason: "BadRequest",
    message: /Ignore, Warn, Strict/u,
  },
  {
    name: "an unknown dryRun",
    path: `${CONFIG_MAPS}?dryRun=Some`,
    call: post("{}"),
    status: 400,
    reason: "BadRequest",
  },
  { name: "a limit that is no number", path: `${PODS}?limit=many`, status: 400, reason: "BadRequest" },
  {
    name: "an exact list of the past",
    path: `${PODS}?resourceVersion=1&resourceVersionMatch=Exact`,
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "a selector that cannot be read",
    path: `${PODS}?labelSelector=a%20in%20b`,
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "a watch with a selector that cannot be read",
    path: `${PODS}?watch=1&fieldSelector=spec.colour%3Dred`,
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "initial events without bookmarks",
    path: `${PODS}?watch=1&sendInitialEvents=true`,
    status: 400,
    reason: "BadRequest",
  },
  {
    name: "apply without a field manager",
    path: `${CONFIG_MAPS}/x`,
    call: { method: "PATCH", body: "{}", type: "application/apply-patch+yaml" },
    status: 400,
    reason: "BadRequest",
    message: /fieldManager/u,
  },
  {
    name: "a binding to nowhere",
    path: `${PODS}/web/binding`,
    call: post("{}"),
    status: 400,
    reason: "BadRequest",
  },
];

describe("what is refused, with a Status that says so", () => {
  test.each(REFUSED)("$name", async ({ path, call, status, reason, message = /./u }) => {
    const reply = await client.call(path, call);
    expect(reply.json()).toMatchObject({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code: status,
      reason,
    });
    expect(reply.json()["message"]).toMatch(message);
    expect(reply.status).toBe(status);
  });
});

describe("how answers are written", () => {
  test("a table with the columns of the kind", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const reply = await client.call(PODS, { headers: { accept } });
    expect(reply.json()).toMatchObject({
      kind: "Table",
      columnDefinitions: expect.arrayContaining([expect.objectContaining({ name: "Restarts", priority: 0 })]),
      rows: [
        {
          cells: ["web", "0/1", "Pending", "0", "0s", "<none>", "<none>", "<none>", "<none>"],
          object: { kind: "PartialObjectMetadata" },
        },
      ],
    });
  });

  test("a table with whole objects, or none", async () => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const whole = await client.call(`${PODS}?includeObject=Object`, { headers });
    expect(whole.json()).toMatchObject({
      rows: [{ object: { kind: "Pod", spec: { restartPolicy: "Always" } } }],
    });
    const none = await client.call(`${PODS}?includeObject=None`, { headers });
    expect(none.json()).not.toHaveProperty("rows.0.object");
  });

  test("metadata alone", async () => {
    const headers = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
    const { items, kind } = (await client.call(PODS, { headers })).json();
    expect(kind).toBe("PartialObjectMetadataList");
    expect(items).toEqual([
      {
        kind: "PartialObjectMetadata",
        apiVersion: "meta.k8s.io/v1",
        metadata: expect.objectContaining({ name: "web" }),
      },
    ]);
  });

  test.each([
    ["a list", PODS],
    ["an object", `${PODS}/web`],
  ])("pods travel as protobuf: %s", async (_what, path) => {
    const accept = "application/vnd.kubernetes.protobuf,application/json";
    const reply = await client.call(path, { headers: { accept } });
    expect(reply.headers["content-type"]).toBe("application/vnd.kubernetes.protobuf");
    expect(reply.bytes.subarray(0, 4).toString("latin1")).toBe("k8s\0");
    expect(reply.bytes.includes("main")).toBe(true);
  });

  test("YAML for whoever likes it", async () => {
    const reply = await client.call(`${PODS}/web`, { headers: { accept: "application/yaml" } });
    expect(reply.text).toContain("kind: Pod\n");
  });

  test("warnings travel in headers", async () => {
    const body = JSON.stringify({ metadata: { name: "odd" }, date: {} });
    const reply = await client.call(`${CONFIG_MAPS}?fieldValidation=Warn&dryRun=All`, {
      method: "POST",
      body,
    });
    expect(reply.headers["warning"]).toBe('299 - "unknown field \\"date\\""');
  });

  test("a large list is whole", async () => {
    const objects = Array.from({ length: 300 }, (_, index) => ({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `e${index}`, namespace: "kube-public" },
      involvedObject: { namespace: "kube-public" },
      message: "x".repeat(1000),
    }));
    cluster.seed(objects);
    const { items } = (await client.call("/api/v1/namespaces/kube-public/events")).json();
    expect(items).toHaveLength(300);
  });
});

describe("watches", () => {
  const version = async (): Promise<string> => cluster.api.resourceVersion();
  const touch = (name: string): void =>
    cluster.seed([
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "default" },
        data: { at: cluster.api.resourceVersion() },
      },
    ]);

  test("without a version the objects that exist come first", async () => {
    const watch = await client.watch(`${PODS}?watch=1`);
    expect(await watch.next()).toMatchObject({
      type: "ADDED",
      object: { kind: "Pod", metadata: { name: "web" } },
    });
    watch.close();
  });

  test("initial events end with a bookmark that says so", async () => {
    const watch = await client.watch(
      `${PODS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    );
    await watch.next();
    expect(await watch.next()).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Pod", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
    watch.close();
  });

  test("bookmarks come by the passed clock and carry the newest version", async () => {
    const watch = await client.watch(
      `${PODS}?watch=1&allowWatchBookmarks=1&resourceVersion=${await version()}`,
    );
    touch("elsewhere");
    await clock.advance(10_000);
    expect(await watch.next()).toMatchObject({
      type: "BOOKMARK",
      object: { metadata: { resourceVersion: await version() } },
    });
    watch.close();
  });

  test("timeoutSeconds ends the watch by the passed clock", async () => {
    const watch = await client.watch(`${PODS}?watch=1&timeoutSeconds=30&resourceVersion=${await version()}`);
    await clock.advance(30_000);
    expect(await watch.next()).toBeUndefined();
  });

  test("only the first table of a watch names its columns", async () => {
    const path = `${CONFIG_MAPS}?watch=1&resourceVersion=${await version()}`;
    const watch = await client.watch(path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    touch("one");
    touch("two");
    const [first, second] = [await watch.next(), await watch.next()];
    expect(first).toMatchObject({
      type: "ADDED",
      object: { kind: "Table", rows: [{ cells: ["one", 1, "0s"] }] },
    });
    expect(first?.object["columnDefinitions"]).toHaveLength(3);
    expect(second?.object["columnDefinitions"]).toBeNull();
    watch.close();
  });

  test("a selector hides what it does not select", async () => {
    const watch = await client.watch(
      `${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dwanted&resourceVersion=${await version()}`,
    );
    touch("other");
    touch("wanted");
    expect(await watch.next()).toMatchObject({ object: { metadata: { name: "wanted" } } });
    watch.close();
  });
});

describe("subresources", () => {
  test("a binding gives a pod its node, once", async () => {
    cluster.seed([{ ...pod, metadata: { name: "bound", namespace: "default" } }]);
    const body = JSON.stringify({ target: { kind: "Node", name: "n1" } });
    const call = { method: "POST", body };
    expect((await client.call(`${PODS}/bound/binding`, call)).status).toBe(201);
    expect((await client.call(`${PODS}/bound`)).json()).toMatchObject({ spec: { nodeName: "n1" } });
    const again = await client.call(`${PODS}/bound/binding`, call);
    expect(again.json()).toMatchObject({
      code: 409,
      message: expect.stringContaining('already assigned to node "n1"'),
    });
  });

  test("an eviction deletes", async () => {
    cluster.seed([{ ...pod, metadata: { name: "evicted", namespace: "default" } }]);
    const body = JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted" } });
    expect((await client.call(`${PODS}/evicted/eviction`, { method: "POST", body })).status).toBe(201);
    expect((await client.call(`${PODS}/evicted`)).status).toBe(404);
  });

  test("a node keeps the status it registers with", async () => {
    const body = JSON.stringify({ metadata: { name: "fresh" }, status: { capacity: { cpu: "4" } } });
    const reply = await client.call("/api/v1/nodes", { method: "POST", body });
    expect(reply.json()).toMatchObject({ status: { capacity: { cpu: "4" } } });
  });
});
