import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createKubeClient,
  type KubeClient,
  parseKubeconfig,
  resolveContext,
  SELF_SUBJECT_REVIEWS,
} from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { LAB, OUR_KINDS, policies, ROLE, startBrokerCluster } from "../testing/one-cluster.ts";
import { requestToken } from "./agent-access.ts";

const USER = "system:serviceaccount:lab:agent-rome";
const silent = (): void => undefined;

describe("kubeconfig issue", () => {
  let hub: Awaited<ReturnType<typeof startBrokerCluster>>;
  beforeEach(async () => {
    hub = await startBrokerCluster(onTestFinished);
  });

  test("prints a kubeconfig that is let in as the agent of that cluster, and nothing else", async () => {
    const { code, out, err } = await hub.issue("rome");
    expect(code).toBe(0);
    expect(await userOf(out)).toBe(USER);
    expect(resolve(out)).toMatchObject({ server: hub.cluster.url, namespace: "lab" });
    expect(err).toContain(`rome may talk to the broker in namespace lab as ${USER}\n`);
    expect(err).toContain("Its agent: --broker-kubeconfig=<file> --broker-namespace=lab\n");
    expect(objects("RoleBinding")).toMatchObject([
      {
        metadata: { name: "agent-rome", namespace: "lab" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "resource-broker-agents" },
        subjects: [{ kind: "ServiceAccount", name: "agent-rome", namespace: "lab" }],
      },
    ]);
    const account = expect.objectContaining({ automountServiceAccountToken: false });
    expect(objects("ServiceAccount")).toContainEqual(account);
  });

  test("writes a file that only its owner can read, shows no token, and can be run again", async () => {
    const file = hub.path("rome.yaml");
    const { code, out, err } = await hub.issue("rome", "--out", file, "--duration", "48h");
    expect(code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, "utf8");
    const { token } = resolve(text).user.login as unknown as { token: { text: string } };
    expect(out + err).not.toContain(token.text);
    expect(out).toMatch(/Expires: +\d{4}-\d\d-\d\d \(in (2 days|48 hours)\)\n/);
    expect(out).toContain(file);
    const before = objects("ServiceAccount");
    expect((await hub.issue("rome", "--out", file)).code).toBe(0);
    expect(objects("ServiceAccount")).toEqual(before);
    expect(await userOf(await readFile(file, "utf8"))).toBe(USER);
  });

  test("never overwrites a file that is something else, and makes nothing then", async () => {
    const { code, err } = await hub.issue("rome", "--out", hub.path("admin.yaml"));
    expect(code).toBe(6);
    expect(err).toContain("is there already and is no kubeconfig that brokerctl made for rome");
    expect(await readFile(hub.path("admin.yaml"), "utf8")).toBe(hub.cluster.kubeconfig);
    expect(objects("RoleBinding")).toEqual([]);
    await hub.issue("paris", "--out", hub.path("paris.yaml"));
    expect((await hub.issue("rome", "--out", hub.path("paris.yaml"))).code).toBe(6);
  });

  test("prints everything as JSON: with the kubeconfig, or where it is", async () => {
    const { out } = await hub.issue("rome", "-o", "json", "--duration", "24h");
    const { kubeconfig, expiresAt, ...rest } = JSON.parse(out) as Record<string, string>;
    expect(rest).toEqual({
      clusterID: "rome",
      namespace: "lab",
      user: USER,
      server: hub.cluster.url,
      warnings: [expect.stringContaining("cannot be reached from another machine")],
    });
    expect(await userOf(kubeconfig ?? "")).toBe(USER);
    expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    const written = await hub.issue("rome", "-o", "json", "--out", hub.path("rome.yaml"));
    expect(JSON.parse(written.out)).toMatchObject({ file: hub.path("rome.yaml") });
    expect(written.out).not.toContain("kubeconfig");
    const named = await hub.issue("rome", "-o", "name", "--out", hub.path("rome.yaml"));
    expect(named.out).toBe(`${hub.path("rome.yaml")}\n`);
  });

  test("writes down the address and the authority that it is told", async () => {
    const authority = "-----BEGIN CERTIFICATE-----\nother\n-----END CERTIFICATE-----\n";
    await writeFile(hub.path("ca.crt"), authority);
    const to = ["--server", "https://hub.example.org:6443/"];
    const { out, err } = await hub.issue("rome", ...to, "--certificate-authority", hub.path("ca.crt"));
    const { server, trust } = resolve(out);
    expect(server).toBe("https://hub.example.org:6443");
    expect(trust.ca).toEqual({ kind: "text", text: authority });
    expect(err).not.toContain("Warning");
  });

  test("with --revoke no kubeconfig of that cluster works any more, also after it is let in again", async () => {
    const { out } = await hub.issue("rome");
    const revoked = await hub.issue("rome", "--revoke", "-o", "json");
    expect(JSON.parse(revoked.out)).toEqual({
      clusterID: "rome",
      namespace: "lab",
      removed: ["RoleBinding/agent-rome", "ServiceAccount/agent-rome"],
    });
    await expect(userOf(out)).rejects.toMatchObject({ code: "unauthenticated" });
    const err = "rome had no access in namespace lab\n";
    expect(await hub.issue("rome", "--revoke")).toMatchObject({ code: 0, err });
    await hub.issue("rome");
    await expect(userOf(out)).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test.each([
    { args: ["Rome"], says: '"Rome" cannot be a cluster ID: it needs 1 to 63 of' },
    { args: ["nobody"], says: '"nobody" stands for requests without a cluster' },
    { args: [], says: "<cluster-id> is missing" },
    { args: ["rome", "--duration", "5m"], says: "Kubernetes gives tokens for at least 10m" },
    { args: ["rome", "--duration", "1h", "--long-lived"], says: "exclude each other" },
    { args: ["rome", "--revoke", "--out", "x"], says: "--revoke removes access" },
    { args: ["rome", "-o", "name"], says: "say where with --out" },
    { args: ["rome", "--server", "hub:6443"], says: "write it like https://broker.example.org:6443" },
    { args: ["rome", "--oout", "x"], says: "did you mean --out?" },
  ])("refuses $args before anything is made", async ({ args, says }) => {
    const { code, out, err } = await hub.issue(...args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
    expect(objects("RoleBinding")).toEqual([]);
  });

  test.each([
    { args: ["--context", "hob"], code: 1, says: 'there is no context "hob": did you mean hub?' },
    { args: ["--kubeconfig", "/dev/null/x"], code: 1, says: "/dev/null/x" },
    { args: ["--certificate-authority", "/dev/null/ca"], code: 1, says: "cannot read /dev/null/ca" },
    { args: ["--out", "/dev/null/rome.yaml"], code: 1, says: "there is no folder /dev/null; nothing" },
  ])("says what is wrong with $args", async ({ args, code, says }) => {
    const err: unknown = expect.stringContaining(says);
    expect(await hub.issue("rome", ...args)).toMatchObject({ code, out: "", err });
    expect(objects("RoleBinding")).toEqual([]);
  });

  test("says which right is missing, with its exit status; continues where nobody may see the policies", async () => {
    hub.cluster.faults.failNext({ times: 1, status: 403, verb: "patch", plural: "rolebindings" });
    const missing: unknown = expect.stringContaining("rolebindings");
    expect(await hub.issue("rome")).toMatchObject({ code: 5, out: "", err: missing });
    hub.cluster.faults.failNext({ times: 4, status: 403, plural: "validatingadmissionpolicies" });
    const unseen = "Warning: cannot see whether agents are kept from writing what belongs to other clusters";
    expect(await hub.issue("rome")).toMatchObject({ code: 0, err: expect.stringContaining(unseen) });
  });

  function objects(kind: string): readonly object[] {
    const definition = hub.cluster.api.definitions().find((each) => each.kind === kind);
    if (definition === undefined) throw new Error(`${kind} is not served`);
    const { items } = hub.cluster.api.list({ definition, namespace: "lab" }, {});
    return items.filter(({ metadata }) => (metadata as { name: string }).name !== "default");
  }
});

describe("kubeconfig issue in a cluster that is not ready", () => {
  test.each([
    {
      name: "our definitions",
      objects: [LAB, ROLE],
      says: "knows no ClusterAdvertisement and no Reservation: is it the broker's cluster? Then first: kubectl",
    },
    {
      name: "the agents' role",
      objects: [LAB, ...OUR_KINDS],
      says: "there is no Role resource-broker-agents in namespace lab, so the access would not work. First run:",
    },
  ])("stops without $name", async ({ objects, says }) => {
    const hub = await startBrokerCluster(onTestFinished, objects);
    expect(await hub.issue("rome")).toMatchObject({ code: 1, out: "", err: expect.stringContaining(says) });
  });

  test.each([
    { name: "no policy is there", objects: [] },
    { name: "the policies only warn", objects: policies(["Warn"]) },
  ])("continues where $name, and says what to do", async ({ objects }) => {
    const hub = await startBrokerCluster(onTestFinished, [LAB, ROLE, ...OUR_KINDS, ...objects]);
    const { code, err } = await hub.issue("rome");
    expect(code).toBe(0);
    expect(err).toContain(
      "Warning: no admission policy prevents this agent from writing objects of other clusters in namespace lab. Apply the rules: kubectl apply -f deploy/admission/agent-writes.yaml",
    );
  });
});

test("looks for the names that the shipped files have", async () => {
  const deploy = join(import.meta.dirname, "../../../../deploy");
  const named = async (file: string): Promise<string[]> =>
    parseAllDocuments(await readFile(join(deploy, file), "utf8")).map((document) => {
      const { kind, metadata } = document.toJS() as { kind: string; metadata: { name: string } };
      return `${kind}/${metadata.name}`;
    });
  expect(await named("rbac/broker-agents.yaml")).toEqual([`${ROLE.kind}/${ROLE.metadata.name}`]);
  const shipped = await named("admission/agent-writes.yaml");
  for (const policy of policies() as { kind: string; metadata: { name: string } }[]) {
    expect(shipped).toContain(`${policy.kind}/${policy.metadata.name}`);
  }
});

test("a token that the server shortened is reported", async () => {
  const create = async () => ({
    spec: { expirationSeconds: 86_400 },
    status: { token: "t", expirationTimestamp: "2026-01-16T12:00:00Z" },
  });
  const client = { create, server: "https://hub" } as unknown as KubeClient;
  const agent = { clusterId: "rome", namespace: "lab", name: "agent-rome", user: USER };
  const { warnings } = await requestToken(client, agent, 8760 * 3600);
  expect(warnings).toEqual([
    expect.stringContaining("gave the token for 24 h instead of 8760 h, until 2026-01-16T12:00:00Z"),
  ]);
  expect((await requestToken(client, agent, 86_400)).warnings).toEqual([]);
});

function resolve(text: string) {
  return resolveContext(parseKubeconfig(parse(text), "the issued kubeconfig"));
}

/** Who the API server takes the holder of a kubeconfig for. */
async function userOf(text: string): Promise<string | undefined> {
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const log = { info: silent, warn: silent, error: silent };
  const client = createKubeClient(resolve(text), { clock, log, env: {} });
  try {
    const { status } = await client.create(SELF_SUBJECT_REVIEWS, {});
    return status?.userInfo?.username;
  } finally {
    client.close();
  }
}
