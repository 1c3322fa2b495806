import { createPrivateKey, createPublicKey, randomBytes, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { advertisementCall, evictCall, inviteCall, membersCall } from "@resource-broker/client";
import { formatToken, IDENTITY_SECRET, JOIN_SECRET } from "@resource-broker/contract";
import { SECRETS } from "@resource-broker/kube";
import { publicKeyHash, tokenSecretHash } from "@resource-broker/runtime";
import {
  type AgentProcess,
  commonName,
  MACHINE_CLOCK,
  privatePem,
  startAgent,
  startWorld,
  testCertificates,
  type TestCertificates,
  until,
  type World,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const DAY_MS = 86_400_000;
const NAMESPACE = "default";

let world: World;
let certificates: TestCertificates;
let folder: string;
const agents: AgentProcess[] = [];
const secrets: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "join-"));
  certificates = await testCertificates();
  const { cert, keys } = certificates.authority(
    { subject: [commonName("enrollment")], basicConstraints: { ca: true, pathLength: 0 } },
    certificates.ca,
  );
  const enrollment = join(folder, "enrollment");
  await writeCertificateFolder(enrollment, { cert, key: privatePem(keys), ca: certificates.ca.cert });
  world = await startWorld({
    certificates,
    clusters: [{ name: "rome", nodes: [{ cpu: "4", memory: "16Gi" }], hasAgent: false }],
    brokerFlags: [`--enrollment-cert-path=${enrollment}`],
  });
});

afterAll(async () => {
  for (const agent of agents) await agent.dispose();
  await world.dispose();
  await rm(folder, { recursive: true, force: true });
});

const kube = () => world.cluster("rome").client;

async function valuesOf(name: string): Promise<Record<string, string>> {
  const { data = {} } = await kube().get(SECRETS, { name, namespace: NAMESPACE });
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString("utf8")]),
  );
}

async function write(name: string, values: Record<string, string>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACE }, data };
  await kube().apply(SECRETS, object, { fieldManager: "test", force: true });
}

/** What `brokerctl invite rome` does. */
async function invite(more: { replace?: boolean } = {}): Promise<Record<string, string>> {
  const token = { id: randomBytes(5).toString("hex"), secret: randomBytes(32).toString("base64url") };
  secrets.push(token.secret);
  await world.broker.api().request(
    inviteCall({
      clusterID: "rome",
      tokenID: token.id,
      secretHash: tokenSecretHash(token.secret),
      ...more,
    }),
  );
  const values = {
    [JOIN_SECRET.clusterId]: "rome",
    [JOIN_SECRET.token]: formatToken(token),
    [JOIN_SECRET.brokerUrls]: `https://127.0.0.1:${world.broker.port}\n`,
    [JOIN_SECRET.caHashes]: `${publicKeyHash(new X509Certificate(certificates.ca.cert).publicKey)}\n`,
  };
  await write("invitation", values);
  return values;
}

async function launch(identity: string, invitation = "invitation"): Promise<AgentProcess> {
  const agent = await startAgent({
    clusterId: "rome",
    broker: world.broker,
    certificates,
    kubeconfig: world.cluster("rome").kubeconfig,
    waits: false,
    flags: [
      "--broker-url=",
      "--broker-cert-path=",
      `--identity-secret=${identity}`,
      `--join-secret=${invitation}`,
      "--advertisement-requeue-interval=1s",
    ],
  });
  agents.push(agent);
  return agent;
}

const untilReady = (agent: AgentProcess): Promise<void> => agent.ready();
const untilUnready = (agent: AgentProcess, text: RegExp) =>
  until(`readiness says ${text}`, async () => (text.test(await agent.readiness()) ? true : undefined));

test("an invited agent joins, renews, is evicted, and comes back with a new invitation", async () => {
  await write("identity", {});
  const invitation = await invite();
  const agent = await launch("identity");
  await untilReady(agent);
  const { value } = await world.broker.api().request(advertisementCall("rome"));
  expect(value.clusterID).toBe("rome");
  const joined = await valuesOf("identity");
  expect(new X509Certificate(joined[IDENTITY_SECRET.certificate] ?? "").subject).toBe("CN=rome");
  expect(Object.keys(await valuesOf("invitation")).sort()).toEqual(["brokerURLs", "caHashes", "clusterID"]);

  // The Secret comes from a backup: the same keys, and a certificate that is due for renewal.
  const privateKey = createPrivateKey(joined[IDENTITY_SECRET.tlsKey] ?? "");
  const old = certificates.leaf({
    subject: [commonName("rome")],
    keys: { privateKey, publicKey: createPublicKey(privateKey) },
    notBefore: new Date(MACHINE_CLOCK.wallMs() - 25 * DAY_MS),
    notAfter: new Date(MACHINE_CLOCK.wallMs() + 5 * DAY_MS),
  });
  await write("identity", { ...joined, [IDENTITY_SECRET.certificate]: old.cert });
  await agent.restart();
  await until("the certificate is renewed", async () => {
    const { [IDENTITY_SECRET.certificate]: now = "" } = await valuesOf("identity");
    return now !== old.cert &&
      Date.parse(new X509Certificate(now).validTo) > MACHINE_CLOCK.wallMs() + 20 * DAY_MS
      ? true
      : undefined;
  });
  await untilReady(agent);
  expect(await agent.scrape()).toContain('agent_certificate_renewals_total{result="renewed"} 1');

  // Another agent, with other keys and a copy of the token.
  await write("other", {});
  await write("copy", invitation);
  const second = await launch("other", "copy");
  await untilUnready(second, /identity.*joining fails: .*used by another agent/);
  await second.stop();
  expect(await second.ended()).toBe(0);
  const logs = await second.logLines();
  await second.dispose();

  await world.broker.api().request(evictCall("rome", "the test says so"));
  await untilUnready(agent, /the broker refuses this agent .*brokerctl invite rome --replace/);
  await invite();
  await untilReady(agent);
  const { value: members } = await world.broker.api().request(membersCall());
  expect(members).toMatchObject([{ clusterID: "rome", state: "joined" }]);

  const said = [...logs, ...(await agent.logLines()), await agent.scrape(), await agent.readiness()].join(
    "\n",
  );
  expect(said).toContain("joined the broker");
  for (const secret of secrets) expect(said).not.toContain(secret);
});

test.each([
  ["has another authority than ca.crt", false, /the server is none that rome trusts .*invite rome --replace/],
  ["refuses its certificate", true, /the broker refuses the certificate of rome .*invite rome --replace/],
])("an agent comes back by a new invitation, with its old key, when the broker %s", async (...row) => {
  const [, isTrusted, text] = row;
  for (const each of agents.splice(0)) await each.dispose();
  await write("returning", {});
  await invite({ replace: true });
  const first = await launch("returning");
  await untilReady(first);
  await first.dispose();
  const joined = await valuesOf("returning");
  const { [IDENTITY_SECRET.authorities]: authorities = "", [IDENTITY_SECRET.tlsKey]: key = "" } = joined;
  const privateKey = createPrivateKey(key);
  const former = await testCertificates();
  const keys = { privateKey, publicKey: createPublicKey(privateKey) };
  await write("returning", {
    ...joined,
    [IDENTITY_SECRET.certificate]: former.leaf({ subject: [commonName("rome")], keys }).cert,
    [IDENTITY_SECRET.authorities]: `${former.ca.cert}${isTrusted ? authorities : ""}`,
  });
  const agent = await launch("returning");
  await untilUnready(agent, text);
  await invite({ replace: true });
  await untilReady(agent);
  expect(await valuesOf("returning")).toMatchObject({
    [IDENTITY_SECRET.identityKey]: joined[IDENTITY_SECRET.identityKey],
    [IDENTITY_SECRET.authorities]: authorities,
  });
  const said = (await agent.logLines()).join("\n");
  for (const secret of secrets) expect(said).not.toContain(secret);
});
