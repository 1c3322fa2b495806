import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Cli, startCli } from "../testing/cli.ts";

/** The folders as a broker and an agent use them: real handshakes on this machine's clock. */
const LONG = ["--days", "36500"];
let cli: Cli;
let server: Server;

beforeEach(async () => {
  cli = await startCli(onTestFinished);
  await cli.ok("init", ...LONG, "--ca-days", "36500");
  await cli.ok("issue", "rome", ...LONG);
});
afterEach(() => {
  server.close();
});

test("an issued certificate is let in under its cluster's name", async () => {
  await listen();
  expect(await greet("clusters/rome")).toEqual({
    authorized: true,
    problem: "",
    name: "rome",
    unit: undefined,
  });
});

test("an admin's certificate carries the unit", async () => {
  await cli.ok("issue", "alice", "--admin", ...LONG);
  await listen();
  expect(await greet("clusters/alice")).toMatchObject({
    authorized: true,
    name: "alice",
    unit: "broker-admin",
  });
});

test("a renewed one is let in, and so is the old one", async () => {
  await listen();
  const old = await credentials("clusters/rome");
  await cli.ok("renew", "rome");
  expect(await greet("clusters/rome")).toMatchObject({ authorized: true });
  expect(await greetWith(old)).toMatchObject({ authorized: true });
});

test("a revoked one is refused, the others are not", async () => {
  await cli.ok("issue", "paris", ...LONG);
  await cli.ok("revoke", "rome", "--reason", "keyCompromise");
  await listen();
  expect(await greet("clusters/rome")).toMatchObject({ authorized: false, problem: "CERT_REVOKED" });
  expect(await greet("clusters/paris")).toMatchObject({ authorized: true });
});

test("one of another authority with the same name is refused", async () => {
  await listen();
  const mine = cli;
  cli = await startCli(onTestFinished);
  await cli.ok("init", ...LONG, "--ca-days", "36500");
  await cli.ok("issue", "rome", ...LONG);
  const foreign = await credentials("clusters/rome");
  expect(await greetWith({ ...foreign, ca: await mine.read("ca", "ca.crt") })).toMatchObject({
    authorized: false,
  });
});

test("the broker's own certificate is none for a client", async () => {
  await listen();
  expect(await greet("broker")).toMatchObject({ authorized: false, problem: "INVALID_PURPOSE" });
});

test("certificates stay good when the authority is renewed, whichever ca.crt either side has", async () => {
  const old = await credentials("clusters/rome");
  await cli.ok("renew", "--ca");
  await listen();
  expect(await greetWith(old)).toMatchObject({ authorized: true });
  expect(await greet("clusters/rome")).toMatchObject({ authorized: true });
});

test("an agent refuses a broker under a name its certificate does not have", async () => {
  await listen();
  const socket = connect({
    ...(await credentials("clusters/rome")),
    ...address(),
    servername: "other.example.org",
  });
  await expect(once(socket, "secureConnect")).rejects.toThrow("does not match certificate's altnames");
});

interface Files {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

async function credentials(folder: string): Promise<Files> {
  const [cert, key, ca] = await Promise.all(
    ["tls.crt", "tls.key", "ca.crt"].map((file) => cli.read(folder, file)),
  );
  return { cert: cert ?? "", key: key ?? "", ca: ca ?? "" };
}

async function listen(): Promise<void> {
  const crl = await cli.read("broker", "crl.pem");
  server = createServer({
    ...(await credentials("broker")),
    crl,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

function address(): { host: string; port: number } {
  const { port } = server.address() as AddressInfo;
  return { host: "127.0.0.1", port };
}

async function greet(folder: string): Promise<Greeting> {
  return greetWith(await credentials(folder));
}

interface Greeting {
  readonly authorized: boolean;
  readonly problem: string;
  readonly name: unknown;
  readonly unit: unknown;
}

/** What the broker's side learns about a client that checks the broker's certificate as an agent does. */
async function greetWith(files: Files): Promise<Greeting> {
  const accepted = once(server, "secureConnection") as Promise<[TLSSocket]>;
  const client = connect({ ...files, ...address() });
  const [[socket]] = await Promise.all([accepted, once(client, "secureConnect")]);
  const { subject } = socket.getPeerCertificate();
  const greeting = {
    authorized: socket.authorized,
    problem: String(socket.authorizationError ?? ""),
    name: subject.CN,
    unit: subject.OU as unknown,
  };
  client.destroy();
  socket.destroy();
  return greeting;
}
