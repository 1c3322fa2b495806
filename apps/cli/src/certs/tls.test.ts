import { createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type TlsOptions, type TLSSocket } from "node:tls";
import { makeLeafCertificate, subjectOf } from "@resource-broker/runtime";
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

test("issued certificates are let in under their names, old and renewed; revoked, foreign and the broker's own are not", async () => {
  await cli.ok("issue", "alice", "--admin", ...LONG);
  await cli.ok("issue", "paris", ...LONG);
  const old = await credentials("clusters/rome");
  for (const what of ["rome", "--ca"]) await cli.ok("renew", what);
  await cli.ok("revoke", "paris", "--reason", "keyCompromise");
  await listen();
  const ok = { authorized: true, problem: "" };
  expect(await greet("clusters/rome")).toEqual({ ...ok, name: "rome", unit: undefined });
  expect(await greet("clusters/alice")).toEqual({ ...ok, name: "alice", unit: "broker-admin" });
  expect(await greetWith(old)).toMatchObject(ok);
  expect(await greet("clusters/paris")).toMatchObject({ authorized: false, problem: "CERT_REVOKED" });
  await cli.ok("issue", "mallory", "--admin", ...LONG);
  await cli.ok("revoke", "mallory");
  server.close();
  await listen();
  expect(await greet("clusters/mallory")).toMatchObject({ authorized: false, problem: "CERT_REVOKED" });
  expect(await greet("broker")).toMatchObject({ authorized: false, problem: "INVALID_PURPOSE" });
  const ca = await cli.read("ca", "ca.crt");
  await cli.ok("init", "--force", ...LONG, "--ca-days", "36500");
  await cli.ok("issue", "rome", "--force", ...LONG);
  const foreign = await credentials("clusters/rome");
  expect(await greetWith({ ...foreign, ca })).toMatchObject({ authorized: false });
  const socket = connect({ ...old, ...address(), servername: "other.example.org" });
  await expect(once(socket, "secureConnect")).rejects.toThrow("does not match certificate's altnames");
});

test("below the enrollment authority there are clients, and no server that a client believes", async () => {
  const authority = await cli.certificate("enrollment");
  const { key, ca } = await credentials("enrollment");
  const rome = await credentials("clusters/rome");
  const leaf = (usage: "clientAuth" | "serverAuth"): Files => {
    const request = {
      commonName: "localhost",
      hosts: ["localhost"],
      usages: [usage],
      publicKey: createPublicKey(rome.key),
      notBefore: authority.validFromDate.getTime(),
      notAfter: authority.validToDate.getTime(),
    };
    const [name, privateKey] = [subjectOf(authority), createPrivateKey(key)];
    const issuer = { name, privateKey, publicKey: authority.publicKey, randomBytes };
    return {
      cert: makeLeafCertificate(request, issuer).toString() + authority.toString(),
      key: rome.key,
      ca,
    };
  };
  await listenWith({ ...(await credentials("broker")), requestCert: true, rejectUnauthorized: false });
  expect(await greetWith(leaf("clientAuth"))).toMatchObject({ authorized: true, name: "localhost" });
  server.close();
  await listenWith(leaf("serverAuth"));
  const client = connect({ ca, ...address(), servername: "localhost" });
  await expect(once(client, "secureConnect")).rejects.toMatchObject({ code: "INVALID_PURPOSE" });
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
  const lists = await cli.read("broker", "crl.pem");
  const files = await credentials("broker");
  await listenWith({
    ...files,
    ca: [files.ca, await cli.read("broker", "admin-ca.crt")],
    crl: lists.split(/(?<=-----END X509 CRL-----\n)/u),
    requestCert: true,
    rejectUnauthorized: false,
  });
}

async function listenWith(options: TlsOptions): Promise<void> {
  server = createServer(options);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

function address(): { host: string; port: number } {
  const { port } = server.address() as AddressInfo;
  return { host: "127.0.0.1", port };
}

async function greet(folder: string) {
  return greetWith(await credentials(folder));
}

/** What the broker's side learns about a client that checks the broker's certificate as an agent does. */
async function greetWith(files: Files) {
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
