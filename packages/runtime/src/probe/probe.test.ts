import { mkdtemp, rm } from "node:fs/promises";
import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Log } from "@resource-broker/base";
import { fakeClock, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createProbeServer, keyPairFolder, type ProbeServer, type ProbeServerDeps } from "./probes.ts";

const certificates = await testCertificates();
const warnings: string[] = [];
const log: Log = {
  info: () => undefined,
  warn: (_, message) => void warnings.push(message),
  error: (_, message) => void warnings.push(message),
};

let probe: ProbeServer;
let problem: string | undefined;
afterEach(() => probe.stop());

async function start(more: Partial<ProbeServerDeps> = {}): Promise<number> {
  probe = createProbeServer(
    { port: 0 },
    {
      groups: ["health", "metrics"],
      checks: [
        { name: "ledger", problem: () => problem },
        { name: "http", problem: () => undefined },
      ],
      metrics: { contentType: "text/plain; version=0.0.4", scrape: () => Promise.resolve("up 1\n") },
      openApi: "{}",
      log,
      ...more,
    },
  );
  return (await probe.start()).port;
}

interface Page {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

function read(get: typeof getPlain, port: number, path: string, method = "GET"): Promise<Page> {
  return new Promise((resolve, reject) => {
    const options = { host: "localhost", port, path, method, agent: false, ca: certificates.ca.cert };
    const request = get(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, type: response.headers["content-type"], text }),
      );
    });
    request.on("error", reject);
  });
}

describe("the probe port", () => {
  const FULL = "degraded: disk full";
  test.each<[path: string, problem: string | undefined, status: number, text: string]>([
    ["/healthz", undefined, 200, "ok"],
    ["/healthz", FULL, 200, "ok"],
    ["/readyz", undefined, 200, "ok"],
    ["/readyz?verbose", undefined, 200, "[+] ledger ok\n[+] http ok\nok"],
    ["/readyz", FULL, 503, `[-] ledger: ${FULL}\nnot ready`],
    ["/readyz?verbose", FULL, 503, `[-] ledger: ${FULL}\n[+] http ok\nnot ready`],
    ["/readyz", "\u001b[2J\u202efine\n[+]", 503, "[-] ledger: \\u{1b}[2J\\u{202e}fine [+]\nnot ready"],
    ["/readyz?exclude=ledger", FULL, 200, "ok"],
    ["/readyz?exclude=ledger&exclude=http&verbose", FULL, 200, "[+] ledger excluded\n[+] http excluded\nok"],
    ["/readyz?exclude=http&verbose", FULL, 503, `[-] ledger: ${FULL}\n[+] http excluded\nnot ready`],
    ["/metrics", undefined, 200, "up 1\n"],
    ["/openapi.json", undefined, 200, "{}"],
  ])("answers %s, while the ledger has the problem %j, with %d", async (path, given, status, text) => {
    problem = given;
    expect(await read(getPlain, await start(), path)).toMatchObject({ status, text });
  });

  test("shows what is only advice to whoever asks for details, and stays ready", async () => {
    const port = await start({
      checks: [
        { name: "ledger", problem: () => undefined },
        { name: "writes", isAdvisory: true, problem: () => "disk full" },
      ],
    });
    expect(await read(getPlain, port, "/readyz")).toMatchObject({ status: 200, text: "ok" });
    expect(await read(getPlain, port, "/readyz?verbose")).toMatchObject({
      status: 200,
      text: "[+] ledger ok\n[!] writes: disk full\nok",
    });
    expect((await read(getPlain, port, "/readyz?verbose&exclude=writes")).text).toContain("writes excluded");
  });

  test("refuses to leave out a check that there is not, and names those there are", async () => {
    problem = undefined;
    const port = await start();
    const refused = await read(getPlain, port, "/readyz?exclude=http&exclude=ledgr&exclude=");
    expect(refused).toMatchObject({ status: 400, type: "application/json" });
    expect(JSON.parse(refused.text)).toMatchObject({
      code: "invalid",
      error: 'exclude: there is no check "ledgr", ""; there are ledger, http',
    });
  });

  test("has nothing else, and changes nothing", async () => {
    const port = await start();
    expect(await read(getPlain, port, "/api/v1/policy")).toMatchObject({ status: 404 });
    expect(await read(getPlain, port, "/metrics", "POST")).toMatchObject({ status: 405 });
    expect(await read(getPlain, port, "/healthz", "HEAD")).toMatchObject({ status: 200, text: "" });
  });

  test("describes no interface where there is none", async () => {
    probe = createProbeServer(
      { port: 0 },
      {
        groups: ["health"],
        checks: [],
        metrics: { contentType: "", scrape: () => Promise.resolve("") },
        log,
      },
    );
    const { port } = await probe.start();
    const missing = await read(getPlain, port, "/openapi.json");
    expect(missing).toMatchObject({ status: 404 });
    expect(missing.text).toContain("try /healthz, /readyz");
  });

  test("a scrape that fails is an error of its own", async () => {
    const port = await start({
      metrics: { contentType: "", scrape: () => Promise.reject(new Error("broken")) },
    });
    expect(await read(getPlain, port, "/metrics")).toMatchObject({ status: 500 });
    expect(await read(getPlain, port, "/healthz")).toMatchObject({ status: 200 });
  });
});

describe("the probe port over TLS", () => {
  test("shows its certificate, and the next one when the files are replaced", async () => {
    const folder = await mkdtemp(join(tmpdir(), "broker-metrics-"));
    await writeCertificateFolder(folder, certificates.broker);
    const time = fakeClock();
    const tls = keyPairFolder({ folder, certName: "tls.crt", keyName: "tls.key" }, { clock: time, log });
    const port = await start({ tls });
    expect(await read(getSecure, port, "/metrics")).toMatchObject({ status: 200, text: "up 1\n" });
    const renewed = certificates.leaf({
      subject: [{ type: "CN", value: "broker" }],
      extendedKeyUsage: ["serverAuth"],
      subjectAltNames: ["DNS:localhost"],
    });
    await writeCertificateFolder(folder, renewed);
    await vi.waitFor(
      async () => {
        await time.advance(1000);
        expect(await serialShown(port)).toBe(renewed.serial);
      },
      { timeout: 60_000 },
    );
    await rm(folder, { recursive: true });
  });
});

function serialShown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "localhost", ca: certificates.ca.cert }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
