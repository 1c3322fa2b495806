import { createPrivateKey, createPublicKey, randomBytes, X509Certificate } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { MemberDTO } from "@resource-broker/contract";
import { generateKeys, makeLeafCertificate, subjectOf, toKeyPem } from "@resource-broker/runtime";
import {
  type AgentProcess,
  type BrokerProcess,
  startAgent,
  startBroker,
  until,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readInvitation } from "../../src/join/invitation.ts";
import { type Outcome, runCli, temporaryFolder } from "../../src/testing/cli.ts";
import { definition, type OneCluster, OUR_KINDS, startOneCluster } from "../../src/testing/one-cluster.ts";

const NODE = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "rome-1" },
  status: {
    allocatable: { cpu: "4", memory: "16Gi", pods: "110" },
    conditions: [{ type: "Ready", status: "True" }],
  },
};
const LABELS = {
  "app.kubernetes.io/instance": "resource-broker-agent",
  "app.kubernetes.io/component": "agent",
};
const READY = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "resource-broker-agent", namespace: "rear-agent", labels: LABELS },
  spec: { replicas: 1 },
  status: { observedGeneration: 1000, updatedReplicas: 1, readyReplicas: 1 },
};

let folder: string;
let broker: BrokerProcess;
let rome: OneCluster;
const agents: AgentProcess[] = [];
/** Parts of tokens that nobody may show. */
const secrets: string[] = [];

const certs = (name: string): string => join(folder, "certs", name);
const read = (...path: readonly string[]): Promise<string> => readFile(join(folder, ...path), "utf8");

async function contents(name: string) {
  const [cert, key, ca] = await Promise.all(
    ["tls.crt", "tls.key", "ca.crt"].map((file) => read("certs", name, file)),
  );
  return { cert: cert ?? "", key: key ?? "", ca: ca ?? "" };
}

function cli(line: string, world: NonNullable<Parameters<typeof runCli>[1]> = {}): Promise<Outcome> {
  const env = {
    BROKERCTL_BROKER: `https://127.0.0.1:${broker?.port}`,
    BROKERCTL_CERTS: certs("clusters/ops"),
    BROKERCTL_CERTS_DIR: join(folder, "certs"),
    KUBECONFIG: rome.kubeconfig,
    PATH: `${folder}:/usr/bin:/bin`,
  };
  return runCli(line.split(" "), { now: rome.now, pause: (ms) => pause(ms), env, ...world });
}

async function invite(line: string): Promise<string> {
  const { code, out, err } = await cli(`invite rome ${line}`.trim());
  if (code !== 0) throw new Error(err);
  secrets.push((await readInvitation(out, "it")).token.secret);
  return out;
}

const members = async (line: string): Promise<readonly MemberDTO[]> =>
  JSON.parse((await cli(`get ${line} -o json`)).out) as MemberDTO[];

beforeAll(async () => {
  folder = await temporaryFolder(afterAll);
  const definitions = [...OUR_KINDS, definition("apps", "Deployment", "Namespaced")];
  rome = await startOneCluster(afterAll, { definitions, objects: [NODE] });
  // The names of a broker on this machine are the default.
  for (const line of ["certs init", "certs issue ops --admin"]) {
    const { code, err } = await cli(line);
    if (code !== 0) throw new Error(err);
  }
  await writeFile(join(folder, "helm"), `#!/bin/sh\n{ echo "$@"; env; } >> ${folder}/helm.log\n`);
  await chmod(join(folder, "helm"), 0o755);
  const [own, admin] = [await contents("broker"), await contents("clusters/ops")];
  broker = await startBroker({
    directory: join(folder, "broker"),
    certificates: { broker: own, cluster: () => admin, admin: () => admin },
    flags: [`--http-cert-path=${certs("broker")}`, `--enrollment-cert-path=${certs("enrollment")}`],
  });
});

afterAll(async () => {
  for (const agent of agents) await agent.dispose();
  await broker.dispose();
});

/** An admin's certificate of somebody who has the key of the clusters' authority. */
async function adminOfClusters(): Promise<string> {
  const { ca } = await contents("broker");
  const keys = await generateKeys();
  const caKey = createPrivateKey(await read("certs", "ca", "ca.key"));
  const leaf = makeLeafCertificate(
    {
      commonName: "mallory",
      units: ["broker-admin"],
      usages: ["clientAuth"],
      publicKey: keys.publicKey,
      notBefore: rome.now() - 60_000,
      notAfter: rome.now() + 3_600_000,
    },
    {
      name: subjectOf(new X509Certificate(ca)),
      publicKey: createPublicKey(caKey),
      privateKey: caKey,
      randomBytes,
    },
  );
  const place = join(folder, "mallory");
  await writeCertificateFolder(place, { cert: leaf.toString(), key: toKeyPem(keys.privateKey), ca });
  return place;
}

/** What the chart does: an empty Secret, and the agent. */
async function launch(identity: string): Promise<AgentProcess> {
  const metadata = { name: identity, namespace: "rear-agent" };
  rome.cluster.seed([{ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: {} }]);
  const own = await contents("broker");
  const agent = await startAgent({
    clusterId: "rome",
    broker,
    directory: join(folder, identity),
    certificates: { cluster: () => own },
    kubeconfig: await readFile(rome.kubeconfig, "utf8"),
    waits: false,
    flags: [
      "--broker-url=",
      "--broker-cert-path=",
      `--identity-secret=rear-agent/${identity}`,
      "--join-secret=rear-agent/resource-broker-join",
      "--advertisement-requeue-interval=1s",
    ],
  });
  agents.push(agent);
  return agent;
}

/** Brings the agent up while brokerctl waits for it. */
async function joinWith(manifest: string, identity: string): Promise<Outcome> {
  let agent: AgentProcess | undefined;
  return cli("join --yes --timeout 2m", {
    readInput: () => Promise.resolve(manifest),
    pause: async () => {
      agent ??= await launch(identity);
      await agent.ready();
      rome.cluster.seed([JSON.parse(JSON.stringify(READY)) as typeof READY]);
    },
  });
}

test("a cluster joins by invite | join, is evicted, and another agent is accepted by its fingerprint", async () => {
  // The broker has found the admins' authority beside its certificate: that of clusters makes none.
  const mallory = await cli(`get members --certs ${await adminOfClusters()}`);
  expect(mallory.code).toBe(5);
  expect(mallory.err).toContain("not of the authority of admins");

  const joined = await joinWith(await invite(""), "identity");
  expect(joined.err).toContain("rome has joined");
  expect(joined.code).toBe(0);
  const [member] = await members("members");
  expect(member).toMatchObject({ clusterID: "rome", state: "joined", invitedBy: "ops" });
  expect(await read("identity", "agent.log")).toContain(member?.fingerprint);
  expect((await cli("get clusters -o name")).out).toBe("rome\n");
  expect(await members("invitations")).toEqual([]);

  // The ID is taken.
  const again = await cli("invite rome");
  expect(again.out).toBe("");
  expect(again.code).not.toBe(0);
  expect(again.err).toContain("--replace");

  expect((await cli("evict rome --yes --reason sold")).code).toBe(0);
  expect((await members("members"))[0]?.state).toBe("evicted");
  await until("its agent notices", async () =>
    /evict/iu.test((await agents[0]?.readiness()) ?? "") ? true : undefined,
  );
  await agents[0]?.dispose();

  const manifest = await invite("--confirm");
  await cli("join --yes --timeout 1s", { readInput: () => Promise.resolve(manifest) });
  const agent = await launch("identity-2");
  const waiting = await until("it waits for an admin", async () =>
    (await members("invitations")).find(({ state }) => state === "unconfirmed"),
  );
  expect(waiting.fingerprint).not.toBe(member?.fingerprint);
  const wrong = await cli(`accept rome --fingerprint SHA256:${"A".repeat(43)}`);
  expect(wrong.code).not.toBe(0);
  expect((await cli(`accept rome --fingerprint ${waiting.fingerprint}`)).out).toMatch(/State: +joined/u);
  await agent.ready();

  const audit = (await cli("audit --all -o json")).out;
  const logs = [await read("broker", "broker.log"), audit, await read("helm.log"), joined.err];
  for (const each of ["identity", "identity-2"]) logs.push(await read(each, "agent.log"));
  for (const secret of secrets) expect(logs.filter((text) => text.includes(secret))).toEqual([]);
}, 180_000);
