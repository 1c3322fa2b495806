import { fakeClock } from "@resource-broker/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import samples from "../protobuf/testing/go-samples.json" with { type: "json" };
import { customResource } from "../resource/resource.ts";
import { CONFIG_MAPS, NODES, PODS, SELF_SUBJECT_REVIEWS, SERVICE_ACCOUNTS } from "../resource/resources.ts";
import { clientFor, configFor } from "../testing/client-for.ts";
import { eventually } from "../testing/eventually.ts";
import { type FakeApiServer, fakeApiServer, type SeenRequest } from "../testing/fake-api-server.ts";
import type { KubeClient } from "./client.ts";

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

const map = { metadata: { name: "settings", namespace: "lab" }, data: { a: "1" } };
describe("a call", () => {
  const name = map.metadata;
  const agent = { metadata: { name: "agent", namespace: "lab" } };
  // What conformance cannot see or does not ask for; it proves the other calls on real servers.
  const calls: readonly [name: string, call: () => Promise<unknown>, asks: string, body: unknown][] = [
    [
      "a question, which has no name",
      () => client.create(SELF_SUBJECT_REVIEWS, {}),
      "POST /apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    ],
    [
      "create a token",
      () => client.create(SERVICE_ACCOUNTS, agent, { subresource: "token" }),
      "POST /api/v1/namespaces/lab/serviceaccounts/agent/token",
      { apiVersion: "v1", kind: "ServiceAccount", ...agent },
    ],
    [
      "delete one very object",
      () => client.delete(CONFIG_MAPS, name, { uid: "u1", resourceVersion: "7", gracePeriodSeconds: 0 }),
      "DELETE /api/v1/namespaces/lab/configmaps/settings",
      { preconditions: { uid: "u1", resourceVersion: "7" }, gracePeriodSeconds: 0 },
    ],
  ];
  test.each(calls)("to %s is what Kubernetes expects", async (_, call, asks, sent) => {
    server.answer((__, reply) => reply.json(200, map));
    await call();
    const { method, path, headers, body } = onlyRequest();
    expect({ asks: `${method} ${path}`, sent: JSON.parse(body) as unknown }).toEqual({ asks, sent });
    expect(headers).toMatchObject({ accept: "application/json", "content-type": "application/json" });
    expect(headers).toHaveProperty("user-agent", "resource-broker");
    expect(headers).not.toHaveProperty("accept-encoding");
  });

  test("below a server's path stays below it", async () => {
    const below = clientFor(configFor(`${server.url}/k8s/clusters/c-1`));
    server.answer((_, reply) => reply.json(200, { major: "1" }));
    expect(await below.read("/version")).toEqual({ major: "1" });
    expect(onlyRequest().path).toBe("/k8s/clusters/c-1/version");
    below.close();
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
