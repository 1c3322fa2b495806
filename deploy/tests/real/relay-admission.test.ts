import { join } from "node:path";
import {
  controlPlaneAssets,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAssets } from "../../../tools/go-assets/assets-tool.ts";
import { DEFINITIONS, LIQO_ASSETS } from "../../../tools/liqo-assets/recipe.ts";

const DEPLOY = join(import.meta.dirname, "../..");
const CRDS = join(findAssets(LIQO_ASSETS, process.env).folder, DEFINITIONS);
const START_TIMEOUT_MS = 600_000;
const AGENT = "system:serviceaccount:rear-agent:resource-broker-agent";
const FILES = [
  ...["agent", "agent-identity", "agent-liqo", "agent-relay"].map((name) => `rbac/${name}.yaml`),
  "admission/agent-liqo.yaml",
  "admission/agent-relay.yaml",
].map((name) => join(DEPLOY, name));
const KINDS = [
  ...["tenants", "identities"].map((kind) => `authentication.liqo.io_${kind}.yaml`),
  "offloading.liqo.io_namespaceoffloadings.yaml",
].map((file) => join(CRDS, file));

const OURS = { "app.kubernetes.io/managed-by": "resource-broker-agent" };
const PEER = { "rear.fluidos.eu/peer": "paris" };
const encoded = (text: string): string => Buffer.from(text).toString("base64");
const NONCE = encoded(Buffer.alloc(64).toString("base64"));

interface Made {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const namespaceOf = (name: string, labels: object = {}) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { "liqo.io/tenant-namespace": "true", ...labels } },
});
const tenantSpace = (id: string, labels: object = {}) =>
  namespaceOf(`liqo-tenant-${id}`, { "liqo.io/remote-cluster-id": id, ...labels });
const secret = (metadata: Made, data?: object, type = "Opaque") => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    namespace: "liqo-tenant-paris",
    annotations: { "kubernetes.io/service-account.name": "default" },
    ...metadata,
  },
  type,
  ...(data === undefined ? {} : { data }),
});
const nonceOf = (id: string) => ({
  name: "liqo-nonce",
  labels: { "liqo.io/nonce": "true", "liqo.io/remote-cluster-id": id },
});
const liqo = (kind: string, metadata: Made, spec: object) => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind,
  metadata: { namespace: "liqo-tenant-paris", ...metadata },
  spec,
});
const identity = (more: object = {}, name = "controlplane-paris") =>
  liqo("Identity", { name }, { clusterID: "paris", type: "ControlPlane", authParams: {}, ...more });
const identityAt = (apiServer: string) => identity({ authParams: { apiServer, signedCRT: "YQ==" } });
const offloading = (namespace: string) => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceOffloading",
  metadata: { name: "offloading", namespace },
  spec: { podOffloadingStrategy: "LocalAndRemote", namespaceMappingStrategy: "DefaultName" },
});
const tenant = (more: object = {}, metadata: Partial<Made> = {}) =>
  liqo(
    "Tenant",
    { name: "paris", labels: PEER, ...metadata },
    { clusterID: "paris", publicKey: "YQ==", csr: "YQ==", signature: "YQ==", ...more },
  );
const pin = (name: string, namespace: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
});

const isPossible = controlPlaneAssets().isThere && findAssets(LIQO_ASSETS, process.env).isThere;

describe.runIf(isPossible || process.env["KUBE_REQUIRED"] === "1")("an agent that peers by relay", () => {
  let plane: RealControlPlane;

  const done = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(stderr);
  };
  /** What the API server says to the agent. */
  const tried = async (verb: string, object: object): Promise<string> => {
    const { exitCode, stderr } = await plane.kubectl(
      ["--as", AGENT, verb, "-f", "-", ...(verb === "delete" ? ["--wait=false"] : [])],
      JSON.stringify(object),
    );
    return exitCode === 0 ? "done" : stderr;
  };

  beforeAll(async () => {
    plane = await startControlPlane({ name: "relay-admission" });
    await done("create", "namespace", "liqo");
    await done("apply", "--server-side", ...KINDS.flatMap((file) => ["-f", file]));
    await done("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
    await done("apply", ...FILES.flatMap((file) => ["-f", file]));
    await plane.seed([
      tenantSpace("by-a-person"),
      secret({ name: "resource-broker-agent-identity", namespace: "rear-agent" }),
      tenant({ clusterID: "people" }, { name: "people", namespace: "default", labels: {} }),
    ]);
    // A policy counts a moment after it is written.
    await until("the policies are in force", async () => {
      const probes = [namespaceOf("probe"), secret({ name: "probe", namespace: "default" })];
      const words = await Promise.all(probes.map((probe) => tried("create", probe)));
      await done("delete", "namespace", "probe", "--ignore-not-found", "--wait=false");
      await done("delete", "secret", "probe", "-n", "default", "--ignore-not-found");
      return words.every((word) => word.includes("the agent may create")) || undefined;
    });
  }, START_TIMEOUT_MS);
  afterAll(() => plane?.dispose(), START_TIMEOUT_MS);

  test.each<[what: string, word: string, verb: string, object: object]>([
    ["a tenant namespace", "done", "create", tenantSpace("paris", OURS)],
    ["one without Liqo's labels", "with Liqo's labels", "create", namespaceOf("liqo-tenant-oslo")],
    [
      "one of another cluster",
      "with Liqo's labels",
      "create",
      namespaceOf("liqo-tenant-oslo", { "liqo.io/remote-cluster-id": "rome" }),
    ],
    ["another namespace", "liqo-tenant-", "create", namespaceOf("mine")],
    ["a namespace of a person", "that it has made", "delete", tenantSpace("by-a-person")],
    ["a nonce", "done", "create", secret(nonceOf("paris"))],
    ["its end", "done", "delete", secret(nonceOf("paris"))],
    ["a nonce that is there already", "empty", "create", secret(nonceOf("paris"), { nonce: NONCE })],
    ["a nonce for another cluster", "empty", "create", secret(nonceOf("rome"))],
    ["a nonce to sign", "done", "create", secret({ name: "liqo-signed-nonce" }, { nonce: NONCE })],
    [
      "something else to sign",
      "64 bytes",
      "replace",
      secret({ name: "liqo-signed-nonce" }, { nonce: encoded("O = system:masters") }),
    ],
    ["nothing to sign", "64 bytes", "replace", secret({ name: "liqo-signed-nonce" })],
    [
      "something beside it",
      "64 bytes",
      "replace",
      secret({ name: "liqo-signed-nonce" }, { nonce: NONCE, more: "YQ==" }),
    ],
    ["another Secret", "liqo-signed-nonce", "create", secret({ name: "other" })],
    [
      "a token of another account",
      "liqo-signed-nonce",
      "create",
      secret(nonceOf("paris"), undefined, "kubernetes.io/service-account-token"),
    ],
    ["a Secret elsewhere", "the agent may", "create", secret({ ...nonceOf("paris"), namespace: "default" })],
    [
      "its own keys",
      "done",
      "replace",
      secret({ name: "resource-broker-agent-identity", namespace: "rear-agent" }, { "identity.key": "YQ==" }),
    ],
    ["an Identity", "done", "create", identity()],
    ["its end", "done", "delete", identity()],
    ["an Identity of a slice", "controlplane-", "create", identity({ type: "ResourceSlice" })],
    ["an Identity of another cluster", "controlplane-", "create", identity({ clusterID: "rome" })],
    ["an Identity of another name", "controlplane-", "create", identity({}, "other")],
    ["an Identity for a cloud", "awsConfig", "create", identity({ authParams: { awsConfig: {} } })],
    [
      "an Identity behind a proxy",
      "proxyURL",
      "create",
      identity({ authParams: { proxyURL: "http://a.b" } }),
    ],
    ...[
      "http://paris.example",
      "https://169.254.169.254",
      "https://169.254.169.254:443/x",
      "https://2852039166",
      "https://0xa9fea9fe",
      "https://0251.254.169.254",
      "https://168.63.129.16",
      "https://100.100.100.200",
      "https://[fe80::1]:6443",
      "https://[::ffff:169.254.169.254]",
      "https://[::ffff:a9fe:a9fe]",
      "https://[64:ff9b::a9fe:a9fe]",
      "https://[fd00:ec2::254]",
      "https://Metadata.google.internal",
      "nowhere",
    ].map((address): [string, string, string, object] => [
      `an Identity at ${address}`,
      "link-local or metadata",
      "create",
      identityAt(address),
    ]),
    ...[
      "https://10.0.0.7:6443",
      "https://february.example",
      "https://[2001:db8::1]:6443",
      "https://[fd00:10:96::1]:6443",
      "https://1password.example",
    ].flatMap((address): [string, string, string, object][] => [
      [`an Identity at ${address}`, "done", "create", identityAt(address)],
      ["its end", "done", "delete", identityAt(address)],
    ]),
    ["an offloading", "done", "create", offloading("default")],
    ["its end", "done", "delete", offloading("default")],
    ...["kube-system", "kube-public", "kube-node-lease", "liqo", "liqo-tenant-paris", "rear-agent"].map(
      (name): [string, string, string, object] => [
        `an offloading of ${name}`,
        "offload no namespace",
        "create",
        offloading(name),
      ],
    ),
    ["a Tenant", "done", "create", tenant()],
    ["a Tenant with another key", "condition of a Tenant", "apply", tenant({ publicKey: "Yg==" })],
    ["a Tenant with another request", "condition of a Tenant", "apply", tenant({ csr: "Yg==" })],
    ["a cordoned Tenant", "done", "apply", tenant({ tenantCondition: "Cordoned" })],
    ["its end", "done", "delete", tenant()],
    ["a Tenant without handshake", "KeysExchange", "create", tenant({ authzPolicy: "TolerateNoHandshake" })],
    ["a Tenant of another cluster", "tenant namespace", "create", tenant({ clusterID: "rome" })],
    ["a Tenant without its mark", "label", "create", tenant({}, { labels: {} })],
    ["a Tenant elsewhere", "tenant namespace", "create", tenant({}, { namespace: "default" })],
    ["a Tenant of people", "label", "delete", tenant({}, { name: "people", namespace: "default" })],
    ["the key of a peer", "done", "create", pin("rear-peer-paris", "rear-agent")],
    ["another ConfigMap of its namespace", "rear-peer-", "create", pin("mine", "rear-agent")],
    ["the key of a peer elsewhere", "rear-peer-", "create", pin("rear-peer-paris", "liqo")],
    ["its tenant namespace's end", "done", "delete", tenantSpace("paris")],
  ])("writes %s: %s", async (_, word, verb, object) => {
    expect(await tried(verb, object)).toContain(word);
  });

  test.each([
    ["get secrets/liqo-remote-certificate", "liqo-tenant-paris"],
    ["list secrets", "liqo-tenant-paris"],
    ["get secrets/resource-broker-join", "default"],
    ["create rolebindings", "liqo-tenant-paris"],
    ["update tenants", "liqo-tenant-paris"],
  ])("may not %s", async (line, namespace) => {
    const args = ["auth", "can-i", "--as", AGENT, ...line.split(" "), "-n", namespace];
    // agent-liqo.yaml is for liqoctl, too; what that alone needs is not bound in relay mode.
    if (line.endsWith("rolebindings"))
      await done("delete", "clusterrolebinding", "resource-broker-agent-liqoctl");
    expect((await plane.kubectl(args)).stdout.trim()).toBe("no");
  });
});
