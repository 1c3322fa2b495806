import { fakeClock } from "@resource-broker/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import samples from "../protobuf/testing/go-samples.json" with { type: "json" };
import { customResource } from "../resource/resource.ts";
import { CONFIG_MAPS, NODES, PODS, SELF_SUBJECT_REVIEWS, SERVICE_ACCOUNTS } from "../resource/resources.ts";
import { clientFor, configFor, statusBody } from "../testing/client-for.ts";
import { eventually } from "../testing/eventually.ts";
import { type FakeApiServer, fakeApiServer, type SeenRequest } from "../testing/fake-api-server.ts";
import type { KubeClient, WatchEvent } from "./client.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const WIDGETS = customResource<object>({
  group: "example.org",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
});
const bytes = (packed: string) => Buffer.from(packed, "base64");

let server: FakeApiServer;
let client: KubeClient;
beforeAll(async () => {
  server = await fakeApiServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.seen.length = 0;
  client = clientFor(configFor(server.url));
  return () => client.close();
});

/** The only request that was made. */
function onlyRequest(): SeenRequest {
  expect(server.seen).toHaveLength(1);
  const [request] = server.seen;
  if (request === undefined) throw new Error("no request was made");
  return request;
}

/** The request as one line, with what was said in it. */
function asked() {
  const { method, path, query, headers, body } = onlyRequest();
  return {
    call: `${method} ${path}${query.size === 0 ? "" : `?${query.toString()}`}`,
    type: headers["content-type"],
    body: body === "" ? undefined : (JSON.parse(body) as unknown),
  };
}

const map = { metadata: { name: "settings", namespace: "lab" }, data: { a: "1" } };
const echoed = { ...map, metadata: { ...map.metadata, uid: "u1", resourceVersion: "7" } };
const typedMap = { apiVersion: "v1", kind: "ConfigMap", ...map };
const at = "/api/v1/namespaces/lab/configmaps";

describe("a call", () => {
  const name = map.metadata;
  const calls: readonly {
    name: string;
    call: () => Promise<unknown>;
    asks: string;
    type?: string;
    body?: unknown;
  }[] = [
    {
      name: "a question, which has no name",
      call: () => client.create(SELF_SUBJECT_REVIEWS, {}),
      asks: "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
      type: "application/json",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    },
    { name: "get", call: () => client.get(CONFIG_MAPS, name), asks: `GET ${at}/settings` },
    {
      name: "create",
      call: () => client.create(CONFIG_MAPS, map, { fieldManager: "agent", dryRun: true }),
      asks: `POST ${at}?fieldManager=agent&dryRun=All`,
      type: "application/json",
      body: typedMap,
    },
    {
      name: "update",
      call: () => client.update(CONFIG_MAPS, map),
      asks: `PUT ${at}/settings`,
      type: "application/json",
      body: typedMap,
    },
    {
      name: "update of a status",
      call: () => client.update(CONFIG_MAPS, map, { subresource: "status" }),
      asks: `PUT ${at}/settings/status`,
      type: "application/json",
      body: typedMap,
    },
    {
      name: "create of a token",
      call: () =>
        client.create(
          SERVICE_ACCOUNTS,
          { metadata: { name: "agent", namespace: "lab" } },
          { subresource: "token" },
        ),
      asks: "POST /api/v1/namespaces/lab/serviceaccounts/agent/token",
      type: "application/json",
      body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "agent", namespace: "lab" } },
    },
    {
      name: "merge patch",
      call: () => client.patch(CONFIG_MAPS, { name, patch: { kind: "merge", body: { data: { a: null } } } }),
      asks: `PATCH ${at}/settings`,
      type: "application/merge-patch+json",
      body: { data: { a: null } },
    },
    {
      name: "JSON patch of a status",
      call: () =>
        client.patch(
          CONFIG_MAPS,
          { name, patch: { kind: "json", body: [{ op: "remove", path: "/data/a" }] } },
          { subresource: "status", fieldManager: "agent" },
        ),
      asks: `PATCH ${at}/settings/status?fieldManager=agent`,
      type: "application/json-patch+json",
      body: [{ op: "remove", path: "/data/a" }],
    },
    {
      name: "strategic patch",
      call: () => client.patch(CONFIG_MAPS, { name, patch: { kind: "strategic", body: {} } }),
      asks: `PATCH ${at}/settings`,
      type: "application/strategic-merge-patch+json",
      body: {},
    },
    {
      name: "apply",
      call: () => client.apply(CONFIG_MAPS, map, { fieldManager: "agent", force: true }),
      asks: `PATCH ${at}/settings?fieldManager=agent&force=true`,
      type: "application/apply-patch+yaml",
      body: typedMap,
    },
    { name: "delete", call: () => client.delete(CONFIG_MAPS, name), asks: `DELETE ${at}/settings` },
    {
      name: "delete of one very object",
      call: () =>
        client.delete(CONFIG_MAPS, name, { uid: "u1", resourceVersion: "7", propagation: "Foreground" }),
      asks: `DELETE ${at}/settings`,
      type: "application/json",
      body: { preconditions: { uid: "u1", resourceVersion: "7" }, propagationPolicy: "Foreground" },
    },
    {
      name: "read",
      call: () => client.read("/apis/metrics.k8s.io/v1beta1/nodes?limit=5"),
      asks: "GET /apis/metrics.k8s.io/v1beta1/nodes?limit=5",
    },
  ];
  test.each(calls)("to $name is what Kubernetes expects", async ({ name: verb, call, asks, type, body }) => {
    server.answer((_, reply) => reply.json(200, echoed));
    const result = await call();
    expect(asked()).toEqual({ call: asks, type, body });
    if (!verb.startsWith("delete")) expect(result).toEqual(echoed);
    expect(onlyRequest().headers).toMatchObject({
      accept: "application/json",
      "user-agent": "resource-broker",
    });
    expect(onlyRequest().headers).not.toHaveProperty("accept-encoding");
  });

  test("below a server's path stays below it", async () => {
    const below = clientFor(configFor(`${server.url}/k8s/clusters/c-1`));
    server.answer((_, reply) => reply.json(200, { major: "1" }));
    expect(await below.read("/version")).toEqual({ major: "1" });
    expect(onlyRequest().path).toBe("/k8s/clusters/c-1/version");
    below.close();
  });

  test("to find what is not there finds nothing, and other refusals are reported", async () => {
    server.answer((_, reply) => reply.json(404, statusBody(404, "NotFound", "no such map")));
    expect(await client.find(CONFIG_MAPS, name)).toBeUndefined();
    await expect(client.get(CONFIG_MAPS, name)).rejects.toMatchObject({ code: "not-found" });
    server.answer((_, reply) =>
      reply.json(
        403,
        statusBody(
          403,
          "Forbidden",
          'User "ada" cannot get resource "configmaps" in API group "" in the namespace "lab"',
        ),
      ),
    );
    await expect(client.find(CONFIG_MAPS, name)).rejects.toThrow(
      "user ada may not get configmaps (core group)",
    );
  });

  test.each([
    "version",
    "//evil.example/x",
    "/api/../secrets",
    "/a b",
    "/api/%2e%2e/x",
    "https://evil.example/",
  ])("reads no path that leads elsewhere: %s", async (path) => {
    await expect(client.read(path)).rejects.toMatchObject({ code: "invalid" });
    expect(server.seen).toEqual([]);
  });

  test("is refused before it is sent when the object has no name or no namespace", async () => {
    await expect(client.create(WIDGETS, { metadata: {} })).rejects.toThrow(
      "every Widget needs a metadata.name",
    );
    await expect(client.create(CONFIG_MAPS, { metadata: { name: "a" } })).rejects.toThrow(
      "needs a namespace",
    );
    await expect(client.create(CONFIG_MAPS, map, { subresource: "status" })).rejects.toThrow(
      "cannot be created",
    );
    expect(server.seen).toEqual([]);
  });

  test("whose answer is no JSON is a fault", async () => {
    server.answer((_, reply) => reply.bytes(200, "text/html", "<html>"));
    await expect(client.read("/version")).rejects.toMatchObject({ code: "malformed" });
  });
});

describe("a list", () => {
  const item = (name: string) => ({ metadata: { name, namespace: "lab" } });

  test("comes page by page, each object as it is read", async () => {
    server.answer(({ query }, reply) => {
      const isFirst = query.get("continue") === null;
      reply.json(200, {
        metadata: { resourceVersion: "42", ...(isFirst ? { continue: "to/ken==" } : {}) },
        items: isFirst ? [item("a"), item("b")] : [item("c")],
      });
    });
    const names: string[] = [];
    const query = {
      namespace: "lab",
      labelSelector: "a=b,c in (d)",
      fieldSelector: "metadata.name!=x",
      pageSize: 2,
      resourceVersion: "0",
    };
    const end = await client.list(CONFIG_MAPS, query, ({ metadata }) => names.push(metadata.name));
    expect(end).toEqual({ resourceVersion: "42", count: 3 });
    expect(names).toEqual(["a", "b", "c"]);
    expect(server.seen.map((request) => Object.fromEntries(request.query))).toEqual([
      { limit: "2", labelSelector: "a=b,c in (d)", fieldSelector: "metadata.name!=x", resourceVersion: "0" },
      { limit: "2", continue: "to/ken==", labelSelector: "a=b,c in (d)", fieldSelector: "metadata.name!=x" },
    ]);
    expect(server.seen[0]?.path).toBe(at);
  });

  test("of 500 objects a page unless asked otherwise", async () => {
    server.answer((_, reply) => reply.json(200, { metadata: { resourceVersion: "1" }, items: null }));
    expect(await client.list(CONFIG_MAPS, {}, () => undefined)).toEqual({ resourceVersion: "1", count: 0 });
    expect(onlyRequest()).toMatchObject({ path: "/api/v1/configmaps" });
    expect(onlyRequest().query.get("limit")).toBe("500");
  });

  test("of pods has 2,000 a page, and 500 where they come as JSON, which is read a page at a time", async () => {
    server.answer(({ headers }, reply) => {
      if (headers.accept?.includes(PROTOBUF) === true) reply.bytes(406, "text/plain", "only JSON");
      else reply.json(200, { metadata: { resourceVersion: "1" }, items: [] });
    });
    await client.list(PODS, {}, () => undefined);
    expect(server.seen.map(({ query }) => query.get("limit"))).toEqual(["2000", "500"]);
  });

  test("whose place the server has forgotten is gone", async () => {
    server.answer(({ query }, reply) => {
      if (query.has("continue")) return reply.json(410, statusBody(410, "Expired", "the token is too old"));
      reply.json(200, { metadata: { resourceVersion: "1", continue: "x" }, items: [item("a")] });
    });
    await expect(client.list(CONFIG_MAPS, {}, () => undefined)).rejects.toMatchObject({ code: "gone" });
  });

  test("of pods travels as protobuf, and gives the same as JSON", async () => {
    const pods = async (type: string, body: Uint8Array | string) => {
      const found: unknown[] = [];
      const { json } = samples.podList;
      const once = { ...json, metadata: { ...json.metadata, continue: "" } };
      server.answer(({ query }, reply) => {
        if (query.has("continue")) reply.json(200, { ...once, items: [] });
        else reply.bytes(200, type, body);
      });
      const end = await client.list(PODS, {}, (pod) => found.push(pod));
      return { found, end };
    };
    const packed = await pods(PROTOBUF, bytes(samples.podList.protobuf));
    expect(server.seen[0]?.headers.accept).toBe(`${PROTOBUF},application/json`);
    const plain = await pods("application/json", JSON.stringify(samples.podList.json));
    expect(packed.end).toEqual(plain.end);
    expect(packed.found).toHaveLength(samples.podList.json.items.length);
    expect(plain.found).toMatchObject(packed.found);
  });

  test.each([406, 415])(
    "is asked for in JSON for good when a server answers %d to protobuf",
    async (status) => {
      server.answer(({ headers }, reply) => {
        if (headers.accept?.includes(PROTOBUF) === true) reply.bytes(status, "text/plain", "only JSON");
        else reply.json(200, { metadata: { resourceVersion: "1" }, items: [] });
      });
      await client.list(PODS, {}, () => undefined);
      await client.list(PODS, {}, () => undefined);
      await client.list(NODES, {}, () => undefined);
      expect(server.seen.map(({ path, headers }) => `${path} ${headers.accept}`)).toEqual([
        `/api/v1/pods ${PROTOBUF},application/json`,
        "/api/v1/pods application/json",
        "/api/v1/pods application/json",
        `/api/v1/nodes ${PROTOBUF},application/json`,
        "/api/v1/nodes application/json",
      ]);
    },
  );

  test("that is refused in protobuf says why", async () => {
    server.answer((_, reply) => reply.bytes(410, PROTOBUF, bytes(samples.status.protobuf)));
    const listing = client.list(PODS, {}, () => undefined);
    await expect(listing).rejects.toMatchObject({ code: "gone" });
    await expect(listing).rejects.toThrow("too old resource version: 1 (4711)");
  });

  test.each([
    ["JSON", "application/json", Buffer.from('{"items":[{"metadata":{"name":"a"}},')],
    ["protobuf", PROTOBUF, bytes(samples.podList.protobuf).subarray(0, 200)],
  ])("in %s that is cut off is a fault that may be tried again", async (_, type, half) => {
    server.answer((__, reply) => {
      const stream = reply.stream(type);
      stream.write(half);
      setImmediate(() => setImmediate(stream.cut));
    });
    const listing = client.list(PODS, {}, () => undefined);
    await expect(listing).rejects.toMatchObject({ code: "unreachable", retry: true });
  });

  test("ends with what is thrown at one of its objects, just as that was, and asks for no more", async () => {
    const closed = new Promise<void>((resolve) => {
      server.answer((_, reply) => {
        const stream = reply.stream(PROTOBUF);
        stream.write(bytes(samples.podList.protobuf));
        void stream.closed.then(resolve);
      });
    });
    const broken = new TypeError("the reader is broken");
    const listing = client.list(PODS, {}, () => {
      throw broken;
    });
    await expect(listing).rejects.toBe(broken);
    await closed;
    expect(server.seen).toHaveLength(1);
  });

  test("that is no list is a fault", async () => {
    server.answer((_, reply) => reply.json(200, { kind: "ConfigMap", items: "x" }));
    await expect(client.list(CONFIG_MAPS, {}, () => undefined)).rejects.toMatchObject({ code: "malformed" });
  });
});

describe("a watch", () => {
  const line = (type: string, version: string, name = "a") =>
    `${JSON.stringify({ type, object: { kind: "ConfigMap", metadata: { name, resourceVersion: version } } })}\n`;
  const collect = async <T>(events: AsyncIterable<WatchEvent<T>>) => {
    const found: WatchEvent<T>[] = [];
    for await (const event of events) found.push(event);
    return found;
  };

  test("tells what happens, bookmarks too, until the server ends it", async () => {
    server.answer((_, reply) => {
      const stream = reply.stream();
      stream.write(line("ADDED", "8") + line("MODIFIED", "9").slice(0, 10));
      stream.write(line("MODIFIED", "9").slice(10) + line("BOOKMARK", "11"));
      stream.write(line("DELETED", "12", "ä"));
      stream.end();
    });
    let opened = 0;
    const query = {
      resourceVersion: "7",
      namespace: "lab",
      timeoutSeconds: 300,
      labelSelector: "a",
      onOpen: () => void opened++,
    };
    const events = await collect(client.watch(CONFIG_MAPS, query));
    expect(events.map(({ type, resourceVersion }) => `${type} ${resourceVersion}`)).toEqual([
      "ADDED 8",
      "MODIFIED 9",
      "BOOKMARK 11",
      "DELETED 12",
    ]);
    expect(events[3]).toMatchObject({ object: { metadata: { name: "ä" } } });
    expect(opened).toBe(1);
    expect(Object.fromEntries(onlyRequest().query)).toEqual({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "7",
      timeoutSeconds: "300",
      labelSelector: "a",
    });
  });

  test("of pods travels as protobuf; what goes wrong amid it is a fault", async () => {
    server.answer((_, reply) => {
      const stream = reply.stream(`${PROTOBUF};stream=watch`);
      const packed = bytes(samples.watch.protobuf);
      for (let at = 0; at < packed.length; at += 100) stream.write(packed.subarray(at, at + 100));
      stream.end();
    });
    const expected = samples.watch.events.filter(({ type }) => type !== "ERROR").map(({ type }) => type);
    const found: string[] = [];
    const watching = async () => {
      for await (const { type } of client.watch(PODS, { resourceVersion: "1" })) found.push(type);
    };
    const hasError = samples.watch.events.some(({ type }) => type === "ERROR");
    if (hasError) await expect(watching()).rejects.toMatchObject({ code: "gone" });
    else await watching();
    expect(found).toEqual(expected);
    expect(found.length).toBeGreaterThan(1);
  });

  test("from a version that is too old is gone, whether said at once or in the stream", async () => {
    const status = statusBody(410, "Expired", "too old resource version");
    server.answer((_, reply) => reply.json(410, status));
    await expect(collect(client.watch(CONFIG_MAPS, { resourceVersion: "1" }))).rejects.toMatchObject({
      code: "gone",
    });
    server.answer((_, reply) => {
      const stream = reply.stream();
      stream.write(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
      stream.end();
    });
    await expect(collect(client.watch(CONFIG_MAPS, { resourceVersion: "1" }))).rejects.toMatchObject({
      code: "gone",
    });
  });

  test("ends quietly when it is given up, amid what has arrived, and the server notices", async () => {
    const closed = new Promise<void>((resolve) => {
      server.answer((_, reply) => {
        const stream = reply.stream();
        stream.write(line("ADDED", "8") + line("MODIFIED", "9"));
        void stream.closed.then(resolve);
      });
    });
    const stop = new AbortController();
    const found: string[] = [];
    for await (const { type } of client.watch(CONFIG_MAPS, { resourceVersion: "7", signal: stop.signal })) {
      found.push(type);
      stop.abort();
    }
    await closed;
    expect(found).toEqual(["ADDED"]);
  });

  test("that gathers does not listen for a while after each event, and then hears all at once", async () => {
    const time = fakeClock();
    const gathering = clientFor(configFor(server.url), { clock: time });
    let write: (text: string) => void = () => undefined;
    server.answer((request, reply) => {
      if (request.query.has("watch")) ({ write } = reply.stream());
      else reply.json(200, {});
    });
    const stop = new AbortController();
    const found: string[] = [];
    const watching = (async () => {
      const query = {
        resourceVersion: "7",
        coalesceMs: 50,
        signal: stop.signal,
        onOpen: () => write(line("ADDED", "8")),
      };
      for await (const { resourceVersion } of gathering.watch(CONFIG_MAPS, query))
        found.push(resourceVersion);
    })();
    await eventually(() => expect(found).toEqual(["8"]));
    write(line("ADDED", "9"));
    write(line("ADDED", "10"));
    // By the time that another call is answered, both have been sent.
    await gathering.read("/version");
    expect(found).toEqual(["8"]);
    await eventually(async () => {
      await time.advance(50);
      expect(found).toEqual(["8", "9", "10"]);
    });
    stop.abort();
    await watching;
    gathering.close();
  });

  test("that was given up before it began asks nobody", async () => {
    const signal = AbortSignal.abort();
    expect(await collect(client.watch(CONFIG_MAPS, { resourceVersion: "7", signal }))).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  test("whose reader stops early closes its connection", async () => {
    const closed = new Promise<void>((resolve) => {
      server.answer((_, reply) => {
        const stream = reply.stream();
        stream.write(line("ADDED", "8"));
        void stream.closed.then(resolve);
      });
    });
    for await (const event of client.watch(CONFIG_MAPS, { resourceVersion: "7" })) {
      expect(event.type).toBe("ADDED");
      break;
    }
    await closed;
  });

  test("that is cut off is a fault that may be tried again, after what came before", async () => {
    server.answer((_, reply) => {
      const stream = reply.stream();
      stream.write(line("ADDED", "8"));
      setImmediate(() => setImmediate(stream.cut));
    });
    const found: string[] = [];
    const watching = async () => {
      for await (const { type } of client.watch(CONFIG_MAPS, { resourceVersion: "7" })) found.push(type);
    };
    await expect(watching()).rejects.toMatchObject({ code: "unreachable", retry: true });
  });

  test.each([
    ["nonsense", "nonsense\n"],
    ["an event nobody knows", '{"type":"MOVED","object":{}}\n'],
    ["an event without an object", '{"type":"ADDED"}\n'],
  ])("with %s in it is a fault, after what came before it", async (_, text) => {
    server.answer((__, reply) => {
      const stream = reply.stream();
      stream.write(line("ADDED", "8") + text);
      stream.end();
    });
    const found: string[] = [];
    const watching = async () => {
      for await (const { type } of client.watch(CONFIG_MAPS, { resourceVersion: "7" })) found.push(type);
    };
    await expect(watching()).rejects.toMatchObject({ code: "malformed" });
    expect(found).toEqual(["ADDED"]);
  });
});
