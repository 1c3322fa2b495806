import { commonName, type FakeClock, fakeClock, testCertificates } from "@resource-broker/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KubeClient } from "../client/client.ts";
import type { KubeConfig, Trust } from "../config/kube-config.ts";
import { CONFIG_MAPS } from "../resource/resources.ts";
import { clientFor, configFor, statusBody } from "../testing/client-for.ts";
import { eventually } from "../testing/eventually.ts";
import { type FakeApiServer, fakeApiServer, type Reply, type Script } from "../testing/fake-api-server.ts";

const certificates = await testCertificates();
const trusted: Trust = { insecureSkipVerify: false, ca: { kind: "text", text: certificates.ca.cert } };
const ok: Script = (_, reply) => reply.json(200, { isOk: true });
const map = { metadata: { name: "a", namespace: "b" } };

/** Answers with each script in turn, then well. */
function inOrder(...scripts: readonly Script[]): Script {
  const left = [...scripts];
  return (request, reply) => (left.shift() ?? ok)(request, reply);
}

describe("an API server", () => {
  const opened: FakeApiServer[] = [];
  const clients: KubeClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const server of opened.splice(0)) await server.stop();
  });
  const serve = async (options: Parameters<typeof certificates.leaf>[0], issuer = certificates.ca) => {
    const own = { extendedKeyUsage: ["serverAuth"], subjectAltNames: ["IP:127.0.0.1"] } as const;
    const { cert, key } = certificates.leaf({ subject: [commonName("server")], ...own, ...options }, issuer);
    const server = await fakeApiServer({ cert, key });
    server.answer(ok);
    opened.push(server);
    return server;
  };
  const read = (config: KubeConfig) => {
    const client = clientFor(config);
    clients.push(client);
    return client.read("/version");
  };
  const day = (text: string) => new Date(`${text}T00:00:00Z`);

  test("may have another name in its certificate when that is stated", async () => {
    const { url } = await serve({ subjectAltNames: ["DNS:kubernetes"] });
    const trust = { ...trusted, serverName: "kubernetes" };
    expect(await read(configFor(url, { trust }))).toEqual({ isOk: true });
  });

  test("is believed blindly when that is asked for", async () => {
    const { url } = await serve({ notAfter: day("2021-01-01"), subjectAltNames: ["DNS:elsewhere"] });
    expect(await read(configFor(url, { trust: { insecureSkipVerify: true } }))).toEqual({ isOk: true });
  });

  test("states its time with every answer, also with a refusal", async () => {
    const { url, answer } = await serve({});
    const seen: number[] = [];
    const client = clientFor(configFor(url, { trust: trusted }), { onDate: (at) => void seen.push(at) });
    clients.push(client);
    const date = "Wed, 01 Jul 2026 10:00:00 GMT";
    answer((_, reply) => reply.json(200, { isOk: true }, { date }));
    await client.read("/version");
    answer((_, reply) => reply.json(404, statusBody(404, "NotFound", "not there"), { date }));
    await client.read("/version").catch(() => undefined);
    expect(seen).toEqual([Date.UTC(2026, 6, 1, 10), Date.UTC(2026, 6, 1, 10)]);
  });

  const wrong: readonly [name: string, start: () => Promise<FakeApiServer>, says: string][] = [
    [
      "the certificate of an impostor of our authority",
      () => serve({}, certificates.authority()),
      "of no authority we trust: check certificate-authority",
    ],
    [
      "a certificate for another name",
      () => serve({ subjectAltNames: ["DNS:elsewhere"] }),
      "its certificate is for another name: use an address that is in it, or set tls-server-name",
    ],
    ["an expired certificate", () => serve({ notAfter: day("2021-01-01") }), "its certificate has expired"],
    [
      "a certificate of tomorrow",
      () => serve({ notBefore: day("2049-01-01") }),
      "its certificate is not valid yet: check the clocks",
    ],
  ];
  test.each(wrong)("with %s is not believed, and the message says what to check", async (_, start, says) => {
    const { url, seen } = await start();
    const reading = read(configFor(url, { trust: trusted }));
    await expect(reading).rejects.toMatchObject({ code: "unreachable", retry: true });
    await expect(reading).rejects.toThrow(says);
    await expect(reading).rejects.toThrow('context "test" of /test/config');
    expect(seen).toEqual([]);
  });

  test("that speaks plain HTTP where TLS was expected is told from one that is down", async () => {
    const plain = await fakeApiServer();
    opened.push(plain);
    const reading = read(configFor(`https://127.0.0.1:${plain.port}`, { trust: trusted }));
    await expect(reading).rejects.toThrow("TLS handshake failed");
  });

  test("that is down is named", async () => {
    const server = await fakeApiServer();
    await server.stop();
    const reading = read(configFor(server.url));
    await expect(reading).rejects.toMatchObject({ code: "unreachable" });
    await expect(reading).rejects.toThrow(
      `${server.url} (context "test" of /test/config) cannot be reached, connection refused`,
    );
  });

  test("with certificates that are none is refused before anybody is called", async () => {
    const { url, seen } = await serve({});
    const text = (content: string) => ({ kind: "text", text: content }) as const;
    const [ada, bob] = [certificates.cluster("ada"), certificates.cluster("bob")];
    const user = { certificate: { cert: text(ada.cert), key: text(bob.key) } };
    await expect(read(configFor(url, { trust: trusted, user }))).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("the key must belong to the certificate"),
    });
    const trust = {
      insecureSkipVerify: false,
      ca: text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----"),
    };
    await expect(read(configFor(url, { trust }))).rejects.toMatchObject({ code: "invalid" });
    expect(seen).toEqual([]);
  });
});

describe("connections", () => {
  let server: FakeApiServer;
  let client: KubeClient;
  beforeEach(async () => {
    server = await fakeApiServer(certificates.broker);
    server.answer(ok);
    client = clientFor(configFor(server.url, { trust: trusted }));
    return async () => {
      client.close();
      await server.stop();
    };
  });
  const read = () => client.read("/version");

  test("that are new resume the TLS session of the first", async () => {
    await read();
    server.answer((_, reply) => reply.json(200, {}, { connection: "close" }));
    await read();
    server.answer(ok);
    await read();
    expect(server.seen.map(({ isSessionReused }) => isSessionReused)).toEqual([false, false, true]);
  });

  test("of watches do not stand in the way of calls", async () => {
    const watching = new AbortController();
    server.answer((request, reply) => {
      if (request.query.has("watch")) reply.stream();
      else reply.json(200, {});
    });
    let opened = 0;
    const query = { resourceVersion: "1", signal: watching.signal, onOpen: () => void opened++ };
    const watches = Array.from({ length: 12 }, async () => {
      for await (const event of client.watch(CONFIG_MAPS, query)) expect(event).toBeDefined();
    });
    await eventually(() => expect(opened).toBe(12));
    await read();
    watching.abort();
    await Promise.all(watches);
  });

  test.each([
    { name: "get", call: () => client.get(CONFIG_MAPS, map.metadata) },
    { name: "update", call: () => client.update(CONFIG_MAPS, map) },
    { name: "delete", call: () => client.delete(CONFIG_MAPS, map.metadata) },
    { name: "apply", call: () => client.apply(CONFIG_MAPS, map, { fieldManager: "agent" }) },
  ])("that died unnoticed are replaced at once for a $name, which may be repeated", async ({ call }) => {
    await read();
    server.answer(inOrder((_, reply) => reply.cut()));
    await call();
    expect(server.seen.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  });

  test("that all died unnoticed cost one repetition, not one each", async () => {
    await Promise.all([read(), read(), read()]);
    server.answer((request, reply) => (request.connection <= 3 ? reply.cut() : reply.json(200, {})));
    await read();
    expect(server.seen.map(({ connection }) => connection > 3)).toEqual([false, false, false, false, true]);
  });

  test("that died unnoticed are a fault where a repetition might do it twice", async () => {
    await read();
    server.answer(inOrder((_, reply) => reply.cut()));
    await expect(client.create(CONFIG_MAPS, map)).rejects.toThrow("the connection was cut");
    expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("that are cut on their first call are not tried for ever", async () => {
    server.answer((_, reply) => reply.cut());
    await expect(read()).rejects.toThrow("the connection was cut");
    expect(server.seen).toHaveLength(1);
  });

  test("are closed for good with the client", async () => {
    await read();
    client.close();
    await expect(read()).rejects.toThrow("was closed");
  });
});

describe("an answer", () => {
  let server: FakeApiServer;
  let client: KubeClient;
  let time: FakeClock;
  beforeAll(async () => {
    server = await fakeApiServer();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    time = fakeClock();
    server.seen.length = 0;
    client = clientFor(configFor(server.url), { clock: time });
    return () => client.close();
  });
  const busy = (status: number, seconds: string) => (_: unknown, reply: Reply) =>
    reply.json(status, statusBody(status, "TooManyRequests", "slow down"), { "retry-after": seconds });
  /** Lets time pass until the call is over. */
  const overTime = async <T>(call: Promise<T>): Promise<T> => {
    let isOver = false;
    void call
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
    await eventually(async () => {
      await time.advance(1_000);
      expect(isOver).toBe(true);
    });
    return call;
  };

  test.each([429, 503])("of %d is asked for again after the time it names", async (status) => {
    server.answer(inOrder(busy(status, "2"), busy(status, "1")));
    const before = time.monotonicMs();
    expect(await overTime(client.read("/version"))).toEqual({ isOk: true });
    expect(time.monotonicMs() - before).toBeGreaterThanOrEqual(3000);
    expect(server.seen).toHaveLength(3);
  });

  test("of 503 is not asked for again where a repetition might do it twice; of 429 it is", async () => {
    server.answer(inOrder(busy(503, "1")));
    await expect(client.create(CONFIG_MAPS, map)).rejects.toMatchObject({ details: { retryAfterMs: 1000 } });
    server.answer(inOrder(busy(429, "1")));
    expect(await overTime(client.create(CONFIG_MAPS, map))).toEqual({ isOk: true });
  });

  test("that does not come in time is a fault, and the connection is given up", async () => {
    const dropped = new Promise<void>((resolve) => {
      server.answer((_, reply) => {
        const stream = reply.stream();
        stream.write('{"half":');
        void stream.closed.then(resolve);
      });
    });
    const reading = client.read("/version?x=secret");
    await eventually(() => expect(server.seen).toHaveLength(1));
    await expect(overTime(reading)).rejects.toThrow(`${server.url} did not reply to GET /version in 30 s`);
    await dropped;
  });

  test("of a watch may stay away for ever once it has begun", async () => {
    let write: (text: string) => void = () => undefined;
    server.answer((_, reply) => {
      const stream = reply.stream();
      write = (text) => {
        stream.write(text);
        stream.end();
      };
    });
    let isOpen = false;
    const found: string[] = [];
    const watching = (async () => {
      const query = { resourceVersion: "1", onOpen: () => void (isOpen = true) };
      for await (const { type } of client.watch(CONFIG_MAPS, query)) found.push(type);
    })();
    await eventually(() => expect(isOpen).toBe(true));
    await time.advance(3_600_000);
    write('{"type":"ADDED","object":{"metadata":{}}}\n');
    await watching;
    expect(found).toEqual(["ADDED"]);
  });

  test("that is too large is a fault; a page of a list may be large", async () => {
    const large = JSON.stringify({
      metadata: { resourceVersion: "1" },
      items: [],
      filler: "a".repeat(17 * 1024 * 1024),
    });
    server.answer((_, reply) => reply.bytes(200, "application/json", large));
    await expect(client.read("/version")).rejects.toMatchObject({ code: "too-large" });
    expect(await client.list(CONFIG_MAPS, {}, () => undefined)).toMatchObject({ resourceVersion: "1" });
  });

  test("that is compressed, which nobody asked for, is a fault", async () => {
    server.answer((_, reply) => reply.json(200, {}, { "content-encoding": "gzip" }));
    await expect(client.read("/version")).rejects.toThrow("encoded as gzip");
  });
});
