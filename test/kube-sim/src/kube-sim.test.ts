import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fakeClock } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createKubeSim } from "./create-kube-sim.ts";
import { type JsonObject, objectsAt, textAt } from "./json.ts";
import type { KubeSim, SimCluster } from "./kube-sim.ts";

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: () => JsonObject;
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly type?: string;
  readonly isAnonymous?: boolean;
}

interface EventStream {
  readonly status: number;
  /** The next event; undefined when the stream has ended, however it ended. */
  readonly next: () => Promise<unknown>;
  readonly close: () => void;
}

interface Client {
  readonly call: (path: string, call?: Call) => Promise<Reply>;
  readonly watch: (path: string, headers?: Readonly<Record<string, string>>) => Promise<EventStream>;
  readonly close: () => void;
}

/** Speaks plain HTTPS to a simulated cluster, as its kubeconfig says. */
function simClient({ kubeconfig, url }: Pick<SimCluster, "kubeconfig" | "url">): Client {
  const config = parse(kubeconfig) as JsonObject;
  const material = (path: string): string => {
    const [entry, field] = path.split("/");
    const [first] = objectsAt(config, entry ?? "");
    return Buffer.from(textAt(first, field ?? ""), "base64").toString();
  };
  const ca = material("clusters/cluster.certificate-authority-data");
  const cert = material("users/user.client-certificate-data");
  const key = material("users/user.client-key-data");
  // A connection of its own for each call: one that was cut must not fail the next.
  const known = new Agent({ ca, cert, key });
  const anonymous = new Agent({ ca });
  const open = (path: string, { method = "GET", headers = {}, body, type, isAnonymous }: Call) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const agent = isAnonymous === true ? anonymous : known;
      const sent = body === undefined ? {} : { "content-type": type ?? "application/json" };
      const outgoing = request(`${url}${path}`, { method, agent, headers: { ...sent, ...headers } }, resolve);
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  return {
    call: async (path, call = {}) => {
      const incoming = await open(path, call);
      const { statusCode: status = 0, headers } = incoming;
      const body = await text(incoming);
      return { status, headers, json: () => JSON.parse(body) as JsonObject };
    },
    watch: async (path, headers = {}) => {
      const incoming = await open(path, { headers });
      incoming.on("error", () => undefined);
      const lines = createInterface(incoming)[Symbol.asyncIterator]();
      return {
        status: incoming.statusCode ?? 0,
        next: async () => {
          const line = await lines.next().catch(() => undefined);
          return line === undefined || line.done === true ? undefined : (JSON.parse(line.value) as unknown);
        },
        close: () => incoming.destroy(),
      };
    },
    close: () => {
      known.destroy();
      anonymous.destroy();
    },
  };
}

const PODS = "/api/v1/namespaces/default/pods";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string): string => JSON.stringify({ metadata: { name }, data: { a: "b" } });

let clock: ReturnType<typeof fakeClock>;
let sim: KubeSim;
let cluster: SimCluster;
let client: Client;

beforeEach(async () => {
  clock = fakeClock();
  sim = createKubeSim({ clock, randomBytes });
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
});

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
});

describe("faults", () => {
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
});

describe("what is refused, with a Status that says so", () => {
  const post = (body: string, type = "application/json"): Call => ({ method: "POST", body, type });
  const MAP = { apiVersion: "v1", kind: "ConfigMap" };
  const apply = (body: object): Call => ({
    ...post(JSON.stringify(body), "application/apply-patch+yaml"),
    method: "PATCH",
  });
  const accept = (type: string): Call => ({ headers: { accept: type } });
  const rows: readonly (readonly [name: string, code: number, path: string, call?: Call])[] = [
    ["an unknown path", 404, "/nowhere"],
    ["an unknown group", 404, "/apis/example.com/v1"],
    ["a version that is not served", 404, "/api/v2/pods"],
    ["an unknown subresource", 404, `${PODS}/web/log`],
    ["a kind without namespaces inside one", 404, "/api/v1/namespaces/default/nodes"],
    ["an object without its namespace", 404, "/api/v1/pods/web"],
    ["an address with a broken escape", 404, "/api/v1/%zz"],
    ["nobody", 401, PODS, { isAnonymous: true }],
    ["a wrong token", 401, PODS, { isAnonymous: true, headers: { authorization: "Bearer 0" } }],
    ["a method that a collection has not", 405, PODS, { method: "PUT", body: "{}" }],
    ["a method that an object has not", 405, `${PODS}/web`, post("{}")],
    ["creation in no namespace", 405, "/api/v1/pods", post("{}")],
    ["writing discovery", 405, "/apis", post("{}")],
    ["reading a review", 405, "/apis/authentication.k8s.io/v1/selfsubjectreviews"],
    ["a type nobody can write", 406, PODS, accept("text/html")],
    ["protobuf of a kind that has none", 406, CONFIG_MAPS, accept("application/vnd.kubernetes.protobuf")],
    ["a body of an unknown type", 415, CONFIG_MAPS, post("<a/>", "text/xml")],
    ["a patch of an unknown type", 415, `${PODS}/web`, { ...post("{}"), method: "PATCH" }],
    ["a body that is not JSON", 400, CONFIG_MAPS, post("{")],
    ["a body that is no object", 400, CONFIG_MAPS, post("[]")],
    ["a body of another kind", 400, CONFIG_MAPS, post('{"kind":"Pod"}')],
    ["a body that is too large", 413, CONFIG_MAPS, post(`"${"x".repeat(3_200_000)}"`)],
    ["an unknown fieldValidation", 400, `${CONFIG_MAPS}?fieldValidation=Harsh`, post("{}")],
    ["a limit that is no number", 400, `${PODS}?limit=many`],
    ["an exact list of the past", 400, `${PODS}?resourceVersion=1&resourceVersionMatch=Exact`],
    ["a flag that is none", 400, `${PODS}?watch=maybe`],
    ["initial events without bookmarks", 400, `${PODS}?watch=1&sendInitialEvents=true`],
    ["metadata that is no object", 400, CONFIG_MAPS, post('{"metadata":7}')],
    ["labels that are no texts", 400, CONFIG_MAPS, post('{"metadata":{"name":"a","labels":{"b":1}}}')],
    ["finalizers that are no list", 400, CONFIG_MAPS, post('{"metadata":{"name":"a","finalizers":"b"}}')],
    ["owners that are no objects", 400, CONFIG_MAPS, post('{"metadata":{"name":"a","ownerReferences":[1]}}')],
    [
      "owners of whom nothing is told",
      422,
      CONFIG_MAPS,
      post('{"metadata":{"name":"a","ownerReferences":[{}]}}'),
    ],
    ["a label that is none", 422, CONFIG_MAPS, post('{"metadata":{"name":"a","labels":{"b":"c d"}}}')],
    [
      "an annotation that is none",
      422,
      CONFIG_MAPS,
      post('{"metadata":{"name":"a","annotations":{"/b":""}}}'),
    ],
    ["a finalizer that is none", 422, CONFIG_MAPS, post('{"metadata":{"name":"a","finalizers":["b c"]}}')],
    ["no name", 422, CONFIG_MAPS, post("{}")],
    ["an apply by nobody", 422, `${CONFIG_MAPS}/a`, apply({ kind: "ConfigMap" })],
    ["an apply of no version", 400, `${CONFIG_MAPS}/a?fieldManager=me`, apply({ kind: "ConfigMap" })],
    ["an apply of no kind", 400, `${CONFIG_MAPS}/a?fieldManager=me`, apply({ apiVersion: "v1" })],
    [
      "an apply under another name",
      400,
      `${CONFIG_MAPS}/a?fieldManager=me`,
      apply({ ...MAP, metadata: { name: "b" } }),
    ],
    [
      "an apply of owners",
      400,
      `${CONFIG_MAPS}/a?fieldManager=me`,
      apply({ ...MAP, metadata: { managedFields: [] } }),
    ],
    [
      "an apply of an object that was",
      409,
      `${CONFIG_MAPS}/a?fieldManager=me`,
      apply({ ...MAP, metadata: { uid: "u" } }),
    ],
  ];
  const named = rows.map(([name, code, path, call]) => ({ name, code, path, call }));
  test.each(named)("$name: $code", async ({ code, path, call }) => {
    const reply = await client.call(path, call);
    expect(reply.json()).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code });
    expect(reply.status).toBe(code);
  });
});

describe("owners and labels", () => {
  const OWNER = { apiVersion: "v1", kind: "ConfigMap", name: "owner" };

  test("what an owner left goes, although another object has taken the owner's name", async () => {
    const uid = textAt((await create("owner")).json(), "metadata.uid");
    const metadata = { name: "left", ownerReferences: [{ ...OWNER, uid }] };
    await client.call(CONFIG_MAPS, { method: "POST", body: JSON.stringify({ metadata }) });
    await client.call(`${CONFIG_MAPS}/owner`, { method: "DELETE" });
    await create("owner");
    await clock.advance(1000);
    expect((await client.call(`${CONFIG_MAPS}/left`)).status).toBe(404);
    expect((await client.call(`${CONFIG_MAPS}/owner`)).status).toBe(200);
  });

  test("an object without the label has not the value that a selector excludes", async () => {
    const labelled = (name: string) => ({ name, namespace: "default", labels: { tier: name } });
    const config = { apiVersion: "v1", kind: "ConfigMap" };
    cluster.seed(["gold", "silver"].map((name) => ({ ...config, metadata: labelled(name) })));
    await create("plain");
    const found = (await client.call(`${CONFIG_MAPS}?labelSelector=tier!%3Dgold`)).json();
    const names = objectsAt(found, "items").map((item) => textAt(item, "metadata.name"));
    expect(names).toEqual(["kube-root-ca.crt", "plain", "silver"]);
  });
});

describe("who gets in", () => {
  test.each(["/version", "/healthz", "/readyz", "/livez"])("%s tells everybody", async (path) => {
    expect((await client.call(path, { isAnonymous: true })).status).toBe(200);
  });

  test("a token of a service account lets it in", async () => {
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    const given = await client.call(`${account}/token`, { method: "POST", body: "{}" });
    const headers = { authorization: `Bearer ${textAt(given.json(), "status.token")}` };
    const question = { method: "POST", body: "{}", isAnonymous: true, headers };
    const whoAmI = await client.call("/apis/authentication.k8s.io/v1/selfsubjectreviews", question);
    expect(textAt(whoAmI.json(), "status.userInfo.username")).toBe("system:serviceaccount:default:default");
  });
});

describe("how answers are written", () => {
  const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

  test("a table without objects", async () => {
    await create("a");
    const rows = await client.call(`${CONFIG_MAPS}?includeObject=None`, { headers: { accept: TABLE } });
    expect(rows.json()["rows"]).toMatchObject([{ cells: ["a", 1, "0s"] }, {}]);
  });

  test("only the first table of a watch names its columns", async () => {
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true`, { accept: TABLE });
    await create("a");
    expect(await watch.next()).toMatchObject({ object: { columnDefinitions: [{ name: "Name" }, {}, {}] } });
    expect(await watch.next()).toMatchObject({ object: { columnDefinitions: null } });
    watch.close();
  });

  test("bookmarks come by the passed clock and carry the newest version", async () => {
    const query = "watch=1&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan";
    const watch = await client.watch(`${PODS}?${query}&timeoutSeconds=15`);
    const annotations = { "k8s.io/initial-events-end": "true" };
    expect(await watch.next()).toMatchObject({ type: "BOOKMARK", object: { metadata: { annotations } } });
    await create("elsewhere");
    await clock.advance(10_000);
    const resourceVersion = await versionNow();
    expect(await watch.next()).toMatchObject({ type: "BOOKMARK", object: { metadata: { resourceVersion } } });
    await clock.advance(5_000);
    expect(await watch.next()).toMatchObject({ type: "BOOKMARK" });
    expect(await watch.next()).toBeUndefined();
  });
});
