import { X509Certificate } from "node:crypto";
import { formatToken, IDENTITY_SECRET, JOIN_SECRET, SIGNED_TEXT } from "@resource-broker/contract";
import { SECRETS } from "@resource-broker/kube";
import {
  fingerprintOf,
  isSignedText,
  publicKeyHash,
  readCertificateSet,
  readIdentityKey,
} from "@resource-broker/runtime";
import { fakeClock, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { read } from "../settings/testing/read-settings.ts";
import { type FakeCluster, fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { openIdentity } from "./open-identity.ts";
import { type JoiningBroker, joiningBroker } from "./testing/joining-broker.ts";

const certificates = await testCertificates();
const TOKEN = { id: "k3u7dq2hvm", secret: "s".repeat(43) };
const NAMESPACE = "system";
const IDENTITY = { name: "identity", namespace: NAMESPACE };
const JOIN = { name: "invitation", namespace: NAMESPACE };

const base64 = (values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );

async function valuesOf({ client }: FakeCluster, name: typeof IDENTITY): Promise<Record<string, string>> {
  const { data = {} } = await client.get(SECRETS, name);
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]),
  );
}

function invitationFor({ url, caHash }: JoiningBroker, token = TOKEN) {
  return {
    [JOIN_SECRET.clusterId]: "rome",
    [JOIN_SECRET.token]: formatToken(token),
    [JOIN_SECRET.brokerUrls]: url,
    [JOIN_SECRET.caHashes]: `${"0".repeat(64)}\n${caHash}\n`,
  };
}

async function setUp(identity: Record<string, string> = {}) {
  const clock = fakeClock();
  const cluster = fakeCluster(clock);
  const broker = await joiningBroker(certificates, onTestFinished);
  const log = recordedLog();
  const write = async (name: typeof IDENTITY, values: Record<string, string>): Promise<void> => {
    const before = await cluster.client.find(SECRETS, name);
    const object = { ...before, metadata: before?.metadata ?? name, data: base64(values) };
    await (before === undefined
      ? cluster.client.create(SECRETS, object)
      : cluster.client.update(SECRETS, object));
  };
  await write(IDENTITY, identity);
  await write(JOIN, invitationFor(broker));
  const open = async (...flags: readonly string[]) => {
    const argv = [
      `--identity-secret=${NAMESPACE}/identity`,
      `--join-secret=${NAMESPACE}/invitation`,
      ...flags,
    ];
    const reading = await read(argv);
    if (!reading.ok) throw new Error(reading.problems.join("; "));
    const deps = { client: cluster.client, clock, random: () => 0.5, log, onRenewal: () => undefined };
    return openIdentity(reading.settings, { ...deps, reloads: { source: () => () => undefined } });
  };
  return { clock, cluster, broker, log, write, open };
}

test("an agent joins with keys that its Secret has already, and the token is gone after it", async () => {
  const { cluster, broker, log, open } = await setUp();
  const atEnrollment: Promise<Record<string, string>>[] = [];
  broker.onEnroll(() => void atEnrollment.push(valuesOf(cluster, IDENTITY)));
  const opened = await open();
  expect(await opened.enrollment?.attempt()).toBe("issued");
  const values = await valuesOf(cluster, IDENTITY);
  const [before] = await Promise.all(atEnrollment);
  expect(Object.keys(before ?? {}).sort()).toEqual(["identity.key", "tls.key"]);
  expect(values).toMatchObject(before ?? {});
  expect(new X509Certificate(values[IDENTITY_SECRET.certificate] ?? "").subject).toBe("CN=rome");
  expect(Object.keys(await valuesOf(cluster, JOIN)).sort()).toEqual(["brokerURLs", "caHashes", "clusterID"]);
  expect(opened.problem()).toBeUndefined();

  const { certificates: source, brokerUrls, agentIdentity } = await opened.credentials();
  const set = await source.start();
  expect(brokerUrls).toEqual([broker.url]);
  const [key = "", signature = ""] = agentIdentity?.(set)?.split(".") ?? [];
  const vouched = SIGNED_TEXT.certificateKey("rome", publicKeyHash(set.own.publicKey));
  expect(isSignedText(vouched, signature, key)).toBe(true);
  expect(opened.identity.key.id).toBe(key);
  expect(opened.identity.certificate().pem).toBe(values[IDENTITY_SECRET.certificate]);
  expect(opened.identity.authorities()).toHaveLength(1);

  const said = log.lines.join("\n");
  expect(said).toContain(TOKEN.id);
  expect(said).toContain(fingerprintOf(key));
  expect(said).not.toContain(TOKEN.secret);
  const verbs = new Set(cluster.calls.slice(4).map(({ verb, name }) => `${verb} ${name}`));
  expect([...verbs].sort()).toEqual([
    "get identity",
    "get invitation",
    "update identity",
    "update invitation",
  ]);
});

test("replicas that start together have the same keys, and both may use the token", async () => {
  const { cluster, open, broker } = await setUp();
  const [one, other] = await Promise.all([open(), open()]);
  expect(one?.identity.key.id).toBe(other?.identity.key.id);
  expect(await Promise.all([one?.enrollment?.attempt(), other?.enrollment?.attempt()])).toEqual([
    "issued",
    "issued",
  ]);
  expect(broker.enrollments()).toBe(2);
  const values = await valuesOf(cluster, IDENTITY);
  const [cert = "", key = "", ca = ""] = ["tls.crt", "tls.key", "ca.crt"].map((name) => values[name]);
  expect(() => readCertificateSet({ cert, key, ca, crl: undefined })).not.toThrow();
});

test("a token is ignored once a certificate is there", async () => {
  const { cluster, broker, write, open } = await setUp();
  await (await open()).enrollment?.attempt();
  await write(JOIN, invitationFor(broker, { ...TOKEN, id: "aaaaaaaaaa" }));
  const again = await open();
  expect(again.enrollment).toBeUndefined();
  expect(broker.enrollments()).toBe(1);
  expect(await valuesOf(cluster, JOIN)).toHaveProperty(JOIN_SECRET.token);
});

const NEXT = { ...TOKEN, id: "aaaaaaaaaa" };

/** An agent that has joined; `refused` begins what it does when one of the two refuses the other. */
async function joined() {
  const parts = await setUp();
  await (await parts.open()).enrollment?.attempt();
  // As after a restart.
  const opened = await parts.open();
  const refused = (what: "own" | "server" | "instance" = "server") => {
    const broker = {
      identity: () => "rome",
      onResponse: () => () => undefined,
      renewCertificate: () => Promise.reject(new Error("no renewal is due")),
    };
    onTestFinished(opened.startRenewal(broker, () => ({ what, message: "refused" })));
  };
  const rounds = async (): Promise<void> => {
    for (let round = 0; round < 5; round++) await parts.clock.advance(15_000);
  };
  return { ...parts, opened, refused, rounds };
}

test.each(["own", "server", "instance"] as const)(
  "an agent that is refused (%s) joins a broker with a new authority by a new invitation, with its old key",
  async (what) => {
    const { clock, cluster, write, refused } = await joined();
    const before = await valuesOf(cluster, IDENTITY);
    const reinstalled = await joiningBroker(await testCertificates(), onTestFinished);
    await write(JOIN, invitationFor(reinstalled, NEXT));
    refused(what);
    const now = async () => [await clock.advance(15_000), await valuesOf(cluster, IDENTITY)] as const;
    await expect.poll(async () => (await now())[1][IDENTITY_SECRET.authorities]).toBe(reinstalled.caText);
    const after = await valuesOf(cluster, IDENTITY);
    for (const key of [IDENTITY_SECRET.identityKey, IDENTITY_SECRET.tlsKey])
      expect(after[key]).toBe(before[key]);
    expect(after[IDENTITY_SECRET.tokenId]).toBe(NEXT.id);
    await expect.poll(() => valuesOf(cluster, JOIN)).not.toHaveProperty(JOIN_SECRET.token);
  },
);

test.each([
  ["no token", { [JOIN_SECRET.token]: "" }],
  ["the token that it joined with", {}],
])("a refused agent with %s in its Secret asks nobody and changes nothing", async (_, more) => {
  const { cluster, broker, write, refused, rounds, opened } = await joined();
  const before = await valuesOf(cluster, IDENTITY);
  const calls = broker.received.length;
  await write(JOIN, { ...invitationFor(broker), ...more });
  refused();
  await rounds();
  expect(broker.received).toHaveLength(calls);
  expect(await valuesOf(cluster, IDENTITY)).toEqual(before);
  expect(opened.problem()).toMatch(/^the server is none that rome trusts .*kubectl apply -f -$/);
});

test("whoever pretends to be the broker to a joined agent does not get its new token", async () => {
  const { cluster, broker, write, refused, rounds, opened } = await joined();
  const before = await valuesOf(cluster, IDENTITY);
  const impostor = await joiningBroker(await testCertificates(), onTestFinished);
  await write(JOIN, { ...invitationFor(broker, NEXT), [JOIN_SECRET.brokerUrls]: impostor.url });
  refused();
  await expect
    .poll(async () => [await rounds(), opened.problem()][1])
    .toMatch(/the invitation in its Secret: .*nothing was sent to it/);
  expect(new Set(impostor.received.map(({ url }) => url))).toEqual(new Set(["/api/v1/trust"]));
  expect(await valuesOf(cluster, IDENTITY)).toEqual(before);
  expect(await valuesOf(cluster, JOIN)).toHaveProperty(JOIN_SECRET.token);
});

test("an invitation for another cluster is not used up by an agent that has joined", async () => {
  const { cluster, broker, write, refused, rounds, opened } = await joined();
  const before = await valuesOf(cluster, IDENTITY);
  await write(JOIN, { ...invitationFor(broker, NEXT), [JOIN_SECRET.clusterId]: "paris" });
  refused();
  await expect
    .poll(async () => [await rounds(), opened.problem()][1])
    .toMatch(/is for paris, and this agent is rome/);
  expect(broker.enrollments()).toBe(1);
  expect(await valuesOf(cluster, IDENTITY)).toEqual(before);
});

test("it waits for an admin, says what for, and goes on by itself", async () => {
  const { clock, cluster, broker, open } = await setUp();
  broker.waitFor("an admin must accept it");
  const opened = await open();
  const joining = new AbortController();
  const completed = opened.enrollment?.complete(joining.signal);
  await expect.poll(() => opened.problem()).toContain("an admin must accept it");
  expect(opened.problem()).toContain(fingerprintOf(opened.identity.key.id));
  broker.waitFor(undefined);
  await expect.poll(async () => [await clock.advance(15_000), opened.problem()][1]).toBeUndefined();
  await completed;
  expect(await valuesOf(cluster, IDENTITY)).toHaveProperty([IDENTITY_SECRET.certificate]);
});

test("a second agent with the same token is refused, says so, and takes the next token", async () => {
  const first = await setUp();
  const second = await setUp();
  await second.write(JOIN, invitationFor(first.broker));
  expect(await (await first.open()).enrollment?.attempt()).toBe("issued");
  const opened = await second.open();
  expect(await opened.enrollment?.attempt()).toBeGreaterThan(0);
  expect(opened.problem()).toMatch(/joining fails: .*the token was used by another agent/);
  expect(second.log.lines.join("\n")).not.toContain(TOKEN.secret);
  // A refused token is hardly sent again.
  for (let tries = 0; tries < 10; tries++) await opened.enrollment?.attempt();
  expect(first.broker.enrollments()).toBe(2);
  const another = { ...TOKEN, id: "bbbbbbbbbb" };
  const third = await setUp();
  for (const { write } of [second, third]) await write(JOIN, invitationFor(first.broker, another));
  expect(await (await third.open()).enrollment?.attempt()).toBe("issued");
  expect(await opened.enrollment?.attempt()).toBeGreaterThan(0);
  const refusals = second.log.lines.filter((line) => /joining fails: .*used by another/.test(line));
  expect(refusals.map((line) => /"token":"(\w+)"/.exec(line)?.[1])).toEqual([TOKEN.id, another.id]);
  await second.write(JOIN, invitationFor(first.broker, { ...TOKEN, id: "aaaaaaaaaa" }));
  expect(await opened.enrollment?.attempt()).toBe("issued");
});

test.each([["belongs to another cluster", "paris", /no use here: it belongs to "paris" instead of "rome"/]])(
  "a certificate that %s is not used",
  async (_, name, problem) => {
    const { cluster, broker, open } = await setUp();
    broker.nameAll(name);
    const opened = await open();
    expect(await opened.enrollment?.attempt()).toBeGreaterThan(0);
    expect(opened.problem()).toMatch(problem);
    expect(Object.keys(await valuesOf(cluster, IDENTITY)).sort()).toEqual(["identity.key", "tls.key"]);
  },
);

test("a damaged key is never replaced", async () => {
  const { cluster, open } = await setUp({ [IDENTITY_SECRET.identityKey]: "-----BEGIN", other: "kept" });
  await expect(open()).rejects.toThrow(/identity\.key in the Secret system\/identity is no key .*backup/);
  expect(await valuesOf(cluster, IDENTITY)).toMatchObject({ "identity.key": "-----BEGIN", other: "kept" });
});

test.each([
  ["no Secret of its own", IDENTITY, /there is no Secret system\/identity.*kubectl -n system create secret/],
])("an agent with %s says how to make it", async (_, name, problem) => {
  const { cluster, open } = await setUp();
  await cluster.client.delete(SECRETS, name);
  await expect(open()).rejects.toThrow(problem);
});

test("an agent with a certificate needs the invitation for the address only, and not with --broker-url", async () => {
  const { broker, cluster, write, open } = await setUp();
  await (await open()).enrollment?.attempt();
  await write(JOIN, { [JOIN_SECRET.brokerUrls]: broker.url, [JOIN_SECRET.token]: "cut" });
  expect((await (await open()).credentials()).brokerUrls).toEqual([broker.url]);
  await cluster.client.delete(SECRETS, JOIN);
  await expect((await open()).credentials()).rejects.toThrow(/is gone.*or give --broker-url/);
  const moved = await open("--broker-url=https://b:8443");
  expect((await moved.credentials()).brokerUrls).toEqual(["https://b:8443"]);
});

const rows: readonly (readonly [string, Record<string, string>, RegExp])[] = [
  ["is cut", { [JOIN_SECRET.token]: formatToken(TOKEN).slice(0, -1) }, /was not copied whole/],
  ["has no hashes", { [JOIN_SECRET.caHashes]: "" }, /needs caHashes/],
  ["has no cluster", { [JOIN_SECRET.clusterId]: "Rome!" }, /needs clusterID/],
  ["was used", { [JOIN_SECRET.token]: "" }, /was used.*brokerctl invite rome --replace/],
  ["is for another cluster", { [JOIN_SECRET.clusterId]: "paris" }, /is for paris, and --cluster-id is rome/],
];
test.each(rows)(
  "an invitation that %s is not sent, and the problem names the remedy",
  async (_, more, problem) => {
    const { broker, write, open, log } = await setUp();
    await write(JOIN, { ...invitationFor(broker), ...more });
    const opened = await open("--cluster-id=rome");
    await opened.enrollment?.attempt();
    expect(opened.problem()).toMatch(problem);
    expect(broker.received).toEqual([]);
    expect(log.lines.join("\n")).not.toContain(TOKEN.secret);
  },
);

test("with a folder of certificates only the identity key comes from the Secret", async () => {
  const { cluster, open } = await setUp();
  const opened = await open("--join-secret=", "--broker-cert-path=/nowhere", "--broker-url=https://b:8443");
  expect(opened.enrollment).toBeUndefined();
  const { [IDENTITY_SECRET.identityKey]: pem = "" } = await valuesOf(cluster, IDENTITY);
  expect(readIdentityKey(pem).id).toBe(opened.identity.key.id);
  await expect((await opened.credentials()).certificates.start()).rejects.toThrow("/nowhere");
});
