import { chmod, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReloads } from "@resource-broker/runtime";
import { type FakeClock, fakeClock, testCertificates } from "@resource-broker/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KubeClient } from "../client/client.ts";
import type { KubeClientDeps } from "../client/create-kube-client.ts";
import type { ExecPlugin, KubeConfig, User } from "../config/kube-config.ts";
import { CONFIG_MAPS } from "../resource/resources.ts";
import { clientFor, configFor, statusBody } from "../testing/client-for.ts";
import { eventually } from "../testing/eventually.ts";
import { type FakeApiServer, fakeApiServer } from "../testing/fake-api-server.ts";
import { recordedLog } from "../testing/recorded-log.ts";

const certificates = await testCertificates();
const file = (path: string) => ({ kind: "file", path }) as const;
const text = (content: string) => ({ kind: "text", text: content }) as const;

let folder = "";
let server: FakeApiServer;
let time: FakeClock;
const clients: KubeClient[] = [];
const at = (name: string) => join(folder, name);

/** As Kubernetes replaces the files of a volume: at once. */
async function replace(name: string, content: string): Promise<void> {
  await writeFile(at(`.${name}`), content);
  await rename(at(`.${name}`), at(name));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kube-auth-"));
  server = await fakeApiServer({ ...certificates.broker, ca: certificates.ca.cert });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  time = fakeClock();
  server.seen.length = 0;
  server.answer((_, reply) => reply.json(200, {}));
  return () => {
    for (const client of clients.splice(0)) client.close();
  };
});

function connect(
  user: User,
  deps: Partial<KubeClientDeps> = {},
  config: Partial<KubeConfig> = {},
): KubeClient {
  const trust = { insecureSkipVerify: false, ca: text(certificates.ca.cert) };
  const client = clientFor(configFor(server.url, { trust, user, ...config }), { clock: time, ...deps });
  clients.push(client);
  return client;
}

/** Accepts only this; whoever shows something else is told 401. */
function acceptOnly(authorization: string): void {
  server.answer(({ headers }, reply) => {
    if (headers.authorization === authorization) reply.json(200, {});
    else reply.json(401, statusBody(401, "Unauthorized", "Unauthorized"));
  });
}

const shown = () => server.seen.map(({ headers }) => headers.authorization);

describe("a token", () => {
  const user = (): User => ({ login: { kind: "token", token: file(at("token")) } });

  test("in a file is read again when it is a minute old, not sooner", async () => {
    await replace("token", "one\n");
    const client = connect(user());
    await client.read("/version");
    await replace("token", "two\n");
    await time.advance(59_000);
    await client.read("/version");
    await time.advance(1_000);
    await client.read("/version");
    expect(shown()).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
  });

  test("in a file is read again at once when it is refused", async () => {
    await replace("token", "one");
    const client = connect(user());
    await client.read("/version");
    await replace("token", "two");
    acceptOnly("Bearer two");
    await client.read("/version");
    expect(shown()).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
  });

  test("that is refused and has not changed is shown once, and the message says whose it is", async () => {
    await replace("token", "one");
    acceptOnly("Bearer other");
    await expect(connect(user()).read("/version")).rejects.toThrow(
      'renew the token or certificate of context "test"',
    );
    expect(shown()).toEqual(["Bearer one"]);
  });

  test("stays in use while its file cannot be read or is being written", async () => {
    const log = recordedLog();
    const reloads = createReloads();
    await replace("token", "one");
    const client = connect(user(), { log, reloads });
    await client.read("/version");
    expect(reloads.check.problem()).toBeUndefined();
    await rm(at("token"));
    await time.advance(60_000);
    await client.read("/version");
    expect(reloads.check.problem()).toMatch(/^kubernetes-credentials not reloaded: .*token/u);
    await replace("token", "");
    await time.advance(60_000);
    await client.read("/version");
    expect(reloads.check.problem()).toContain("token is empty");
    await replace("token", "one");
    await time.advance(60_000);
    await client.read("/version");
    expect(reloads.check.problem()).toBeUndefined();
    expect(shown()).toEqual(["Bearer one", "Bearer one", "Bearer one", "Bearer one"]);
    expect(log.lines).toEqual(["warn cannot read the credentials again; the old ones stay in use"]);
  });

  test("whose file is not there is named before anybody is called", async () => {
    const login = { kind: "token", token: file(at("nowhere")) } as const;
    const reading = connect({ login }).read("/version");
    await expect(reading).rejects.toThrow(`cannot read ${at("nowhere")} (context "test" of /test/config)`);
    expect(server.seen).toEqual([]);
  });

  test.each(["", "two\nwords", "naïve", "a\r\nX-Evil: 1"])("that is none is refused: %j", async (token) => {
    const reading = connect({ login: { kind: "token", token: text(token) } }).read("/version");
    await expect(reading).rejects.toThrow("is empty or not printable");
  });

  test("is not shown over plain HTTP", async () => {
    const plain = await fakeApiServer();
    plain.answer((_, reply) => reply.json(200, {}));
    await connect({ login: { kind: "token", token: text("one") } }, {}, { server: plain.url }).read(
      "/version",
    );
    expect(plain.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await plain.stop();
  });
});

test("a password is shown as Kubernetes' proxies expect it", async () => {
  await connect({ login: { kind: "password", username: "ada", password: "pä:ss" } }).read("/version");
  expect(shown()).toEqual([`Basic ${Buffer.from("ada:pä:ss").toString("base64")}`]);
});

describe("a client certificate", () => {
  const user = (): User => ({ certificate: { cert: file(at("tls.crt")), key: file(at("tls.key")) } });
  const rotate = async ({ cert, key }: { readonly cert: string; readonly key: string }) => {
    await replace("tls.crt", cert);
    await replace("tls.key", key);
  };

  test("that is new leaves a running watch alone", async () => {
    await rotate(certificates.cluster("one"));
    const client = connect(user());
    let write: (text: string) => void = () => undefined;
    server.answer((request, reply) => {
      if (!request.query.has("watch")) return reply.json(200, {});
      const stream = reply.stream();
      write = (line) => {
        stream.write(line);
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
    await rotate(certificates.cluster("two"));
    await time.advance(60_000);
    await client.read("/version");
    write('{"type":"ADDED","object":{"metadata":{}}}\n');
    await watching;
    expect(found).toEqual(["ADDED"]);
    expect(server.seen.map(({ client: name }) => name)).toEqual(["one", "two"]);
  });

  test("of which only one file is new yet does not take the old pair out of use", async () => {
    const log = recordedLog();
    const reloads = createReloads();
    await rotate(certificates.cluster("one"));
    const client = connect(user(), { log, reloads });
    await client.read("/version");
    const two = certificates.cluster("two");
    await replace("tls.crt", two.cert);
    await time.advance(60_000);
    await client.read("/version");
    await client.read("/version");
    expect(reloads.check.problem()).toContain("kubernetes-credentials not reloaded");
    await replace("tls.key", two.key);
    await time.advance(60_000);
    await client.read("/version");
    expect(reloads.check.problem()).toBeUndefined();
    expect(server.seen.map(({ client: name }) => name)).toEqual(["one", "one", "one", "two"]);
    expect(log.lines).toEqual(["warn cannot use the new certificates yet; the old ones stay in use"]);
  });
});

describe("a credential plugin", () => {
  const env = { PATH: process.env["PATH"], INHERITED: "yes" };
  /** A plugin that writes down how it was called and prints what it finds in a file. */
  const script = `#!/bin/sh
echo "$INHERITED $OWN $*" >> "$LOGGED"
printf '%s' "$KUBERNETES_EXEC_INFO" > "$LOGGED.info"
cat "$ANSWER"
`;
  const plugin = (parts: Partial<ExecPlugin> = {}): User => ({
    login: {
      kind: "plugin",
      plugin: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: at("plugin.sh"),
        args: ["get", "token"],
        env: { OWN: "own", LOGGED: at("runs"), ANSWER: at("answer") },
        interactiveMode: "IfAvailable",
        ...parts,
      },
    },
  });
  const answer = (status: object, apiVersion = "client.authentication.k8s.io/v1") =>
    replace("answer", JSON.stringify({ kind: "ExecCredential", apiVersion, status }));
  const runs = async () =>
    (await readFile(at("runs"), "utf8"))
      .trim()
      .split("\n")
      .filter((line) => line !== "");

  beforeEach(async () => {
    await writeFile(at("plugin.sh"), script);
    await chmod(at("plugin.sh"), 0o700);
    await writeFile(at("runs"), "");
    await answer({ token: "one" });
  });

  test("is run once for many calls, with its arguments and variables", async () => {
    const client = connect(plugin(), { env });
    await Promise.all([client.read("/version"), client.read("/version")]);
    await client.read("/version");
    expect(await runs()).toEqual(["yes own get token"]);
    expect(shown()).toEqual(["Bearer one", "Bearer one", "Bearer one"]);
    const info = JSON.parse(await readFile(at("runs.info"), "utf8")) as unknown;
    expect(info).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false },
    });
  });

  test("is told of the cluster when it asks for that", async () => {
    await replace("ca.crt", certificates.ca.cert);
    const trust = { insecureSkipVerify: false, ca: file(at("ca.crt")), serverName: "localhost" };
    const cluster = { server: server.url, trust, config: { audience: "x" } };
    await connect(plugin({ cluster }), { env }).read("/version");
    const info = JSON.parse(await readFile(at("runs.info"), "utf8")) as unknown;
    expect(info).toMatchObject({
      spec: {
        cluster: {
          server: server.url,
          "tls-server-name": "localhost",
          "certificate-authority-data": Buffer.from(certificates.ca.cert).toString("base64"),
          config: { audience: "x" },
        },
      },
    });
  });

  test("is run again when what it gave expires", async () => {
    await answer({ token: "one", expirationTimestamp: new Date(time.wallMs() + 600_000).toISOString() });
    const client = connect(plugin(), { env });
    await client.read("/version");
    await answer({ token: "two" });
    await time.advance(599_000);
    await client.read("/version");
    await time.advance(1_000);
    await client.read("/version");
    expect(shown()).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
  });

  test("is run again when what it gave is refused, once", async () => {
    const client = connect(plugin(), { env });
    await client.read("/version");
    await answer({ token: "two" });
    acceptOnly("Bearer two");
    await client.read("/version");
    expect(shown()).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
    acceptOnly("Bearer three");
    await expect(client.read("/version")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await runs()).toHaveLength(3);
  });

  test("may give a certificate, by which new connections are made", async () => {
    const give = ({ cert, key }: { readonly cert: string; readonly key: string }) =>
      answer({ clientCertificateData: cert, clientKeyData: key });
    await give(certificates.cluster("one"));
    const client = connect(plugin(), { env });
    await client.read("/version");
    await give(certificates.cluster("two"));
    server.answer(({ client: name }, reply) => {
      if (name === "two") reply.json(200, {});
      else reply.json(401, statusBody(401, "Unauthorized", "Unauthorized"));
    });
    await client.read("/version");
    expect(server.seen.map(({ client: name }) => name)).toEqual(["one", "one", "two"]);
  });

  const shell = (script: string) => ({ command: "/bin/sh", args: ["-c", script] });
  const wrong: readonly [name: string, plugin: Partial<ExecPlugin> | { prints: string }, says: string][] = [
    [
      "is not there",
      { command: "no-such-plugin", installHint: "Get it from IT." },
      "there is no program no-such-plugin; Get it from IT.",
    ],
    ["says why it fails", shell("echo log in first >&2; exit 3"), "ended with 3: log in first"],
    ["prints too much", shell("exec yes secret"), "printed too much"],
    ["prints nonsense", { prints: "token: secret" }, "did not print an ExecCredential"],
    ["prints another kind", { prints: '{"kind":"Secret"}' }, "did not print an ExecCredential"],
    [
      "speaks another version",
      { prints: credential({ token: "secret" }).replace("/v1", "/v1beta1") },
      "does not answer as client.authentication.k8s.io/v1",
    ],
    ["gives nothing", { prints: credential({}) }, "neither a token nor a certificate"],
    [
      "gives a certificate alone",
      { prints: credential({ clientCertificateData: "secret" }) },
      "without its key",
    ],
    [
      "gives an end that is no time",
      { prints: credential({ token: "secret", expirationTimestamp: "soon" }) },
      "is not an RFC 3339 time",
    ],
    ["needs a person", { interactiveMode: "Always" }, "needs an interactive terminal"],
  ];
  test.each(wrong)("that %s is a fault that names it and shows no secret", async (_, given, says) => {
    if ("prints" in given) await replace("answer", given.prints);
    const reading = connect(plugin("prints" in given ? {} : given), { env }).read("/version");
    const message = expect.not.stringContaining("secret");
    await expect(reading).rejects.toMatchObject({ code: "invalid", message });
    await expect(reading).rejects.toThrow(says);
    await expect(reading).rejects.toThrow('(context "test" of /test/config)');
    expect(server.seen).toEqual([]);
  });

  test("that hangs is ended", async () => {
    const hanging = plugin({ command: "/bin/sh", args: ["-c", 'echo running >> "$LOGGED"; exec sleep 600'] });
    const reading = connect(hanging, { env }).read("/version");
    const outcome = reading.catch((error: unknown) => String(error));
    await eventually(async () => expect(await runs()).toHaveLength(1));
    await time.advance(60_000);
    expect(await outcome).toContain("took too long");
  });
});

function credential(status: object): string {
  return JSON.stringify({ kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1", status });
}
