import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { connect } from "node:tls";
import { customResourceDefinition, resourceRequestKind } from "@resource-broker/contract/crd";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { CONFIG_MAPS, type KubeClient, NAMESPACES, NODES, PODS } from "@resource-broker/kube";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { bitString, explicit, integer, sequence } from "../certificates/der.ts";
import { makeKeys, signatureAlgorithm, toPem } from "../certificates/make-certificate.ts";
import { commonName, encodeSubject } from "../certificates/subject.ts";
import { kubeClientFor } from "../kube/clients.ts";
import { controlPlaneAssets } from "./assets.ts";
import type { RealControlPlane } from "./control-plane.ts";
import { startControlPlane } from "./start-control-plane.ts";

const TIMEOUT_MS = 180_000;
const EVENTUALLY = { timeout: 60_000, interval: 50 };
const DEFAULT = "default";

describe.skipIf(!controlPlaneAssets().isThere)("a real control plane", { timeout: TIMEOUT_MS }, () => {
  let plane: RealControlPlane;
  let client: KubeClient;

  beforeAll(async () => {
    plane = await startControlPlane({ name: "test" });
    client = kubeClientFor(plane.kubeconfig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    client?.close();
    await plane?.dispose();
  }, TIMEOUT_MS);

  test("its kubectl is of the server's release", async () => {
    const { stdout } = await plane.kubectl(["version", "-o", "json"]);
    const { clientVersion, serverVersion } = JSON.parse(stdout) as Record<string, { gitVersion: string }>;
    expect(clientVersion?.gitVersion).toMatch(/^v1\.\d+\.\d+$/);
    expect(serverVersion?.gitVersion).toBe(clientVersion?.gitVersion);
  });

  test("a service account may do what its roles say, and nothing else", async () => {
    const serviceAccount = { namespace: DEFAULT, name: "reader" };
    await done(["create", "serviceaccount", "reader"]);
    const reader = kubeClientFor(await plane.kubeconfigFor(serviceAccount));
    onTestFinished(reader.close);
    await expect(reader.list(NODES, {}, () => undefined)).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringMatching(/list.*nodes/s),
    });
    await done(["create", "clusterrole", "reader", "--verb=list", "--resource=nodes"]);
    await done([
      "create",
      "clusterrolebinding",
      "reader",
      "--clusterrole=reader",
      "--serviceaccount=default:reader",
    ]);
    await vi.waitFor(() => reader.list(NODES, {}, () => undefined), EVENTUALLY);
    await expect(reader.list(PODS, {}, () => undefined)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("a token is refused for a service account that is not there", async () => {
    await expect(plane.kubeconfigFor({ namespace: DEFAULT, name: "nobody" })).rejects.toThrow("not found");
  });

  test("tests report for nodes and pods, since no kubelet does", async () => {
    const room = { cpu: "8", memory: "32Gi", pods: "110" };
    const conditions = [{ type: "Ready", status: "True" }];
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "rome-1" } };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shops" } };
    const definition = customResourceDefinition(resourceRequestKind);
    const request = { ...GOOD_OBJECTS["ResourceRequest"], metadata: { name: "more", namespace: DEFAULT } };
    await plane.seed([
      request,
      pod({ name: "shop", namespace: "shops" }, "rome-1"),
      { ...node, status: { capacity: room, allocatable: room, conditions } },
      namespace,
      definition,
    ]);
    const seen = await client.get(NODES, { name: "rome-1" });
    expect(seen).toMatchObject({ status: { allocatable: room, conditions } });
    expect(seen.spec?.taints).toBeUndefined();
    const reported = await client.get(PODS, { name: "shop", namespace: "shops" });
    expect(reported).toMatchObject({ spec: { nodeName: "rome-1" }, status: { phase: "Running" } });
    const { stdout } = await plane.kubectl(["describe", "node", "rome-1"]);
    expect(stdout).toMatch(/shops\s+shop\s+500m \(6%\)/);
    const listed = await plane.kubectl(["get", "resourcerequests", "more", "-o", "jsonpath={.status.phase}"]);
    expect(listed.stdout).toBe("Pending");
  });

  test("seeding again changes what is there, and says what the server refuses", async () => {
    const map = (data: object): object => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "seed" },
      data,
    });
    await plane.seed([map({ key: "old" })]);
    await plane.seed([map({ key: "new" })]);
    const found = await client.get(CONFIG_MAPS, { name: "seed", namespace: DEFAULT });
    expect(found.data).toEqual({ key: "new" });
    await expect(plane.seed([map({ "a b": "x" })])).rejects.toThrow("data[a b]");
  });

  test("what an object owned goes with it", async () => {
    const owner = await client.create(CONFIG_MAPS, { metadata: { name: "owner", namespace: DEFAULT } });
    const { uid = "" } = owner.metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    const owned = { name: "owned", namespace: DEFAULT };
    await client.create(CONFIG_MAPS, { metadata: { ...owned, ownerReferences } });
    await client.delete(CONFIG_MAPS, { name: "owner", namespace: DEFAULT });
    await vi.waitFor(async () => expect(await client.find(CONFIG_MAPS, owned)).toBeUndefined(), EVENTUALLY);
  });

  test("a namespace that is deleted is emptied and goes away", async () => {
    await client.create(NAMESPACES, { metadata: { name: "brief" } });
    await client.create(CONFIG_MAPS, { metadata: { name: "inside", namespace: "brief" } });
    await client.delete(NAMESPACES, { name: "brief" });
    await vi.waitFor(
      async () => expect(await client.find(NAMESPACES, { name: "brief" })).toBeUndefined(),
      EVENTUALLY,
    );
  });

  test("a certificate request that is approved is signed", async () => {
    const keys = makeKeys();
    const body = sequence(
      integer(0),
      encodeSubject([commonName("somebody")]),
      keys.publicKey.export({ type: "spki", format: "der" }),
      explicit(0),
    );
    const algorithm = signatureAlgorithm(keys, "sha256");
    const signed = sequence(body, algorithm.id, bitString(algorithm.sign(body)));
    const request = Buffer.from(toPem("CERTIFICATE REQUEST", signed)).toString("base64");
    const spec = { request, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] };
    const kind = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" };
    await done(["create", "-f", "-"], JSON.stringify({ ...kind, metadata: { name: "somebody" }, spec }));
    await done(["certificate", "approve", "somebody"]);
    const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests/somebody";
    const certificate = await vi.waitFor(async () => {
      const { status } = (await plane.request("GET", path)).body as { status: { certificate?: string } };
      return new X509Certificate(Buffer.from(status.certificate ?? "", "base64"));
    }, EVENTUALLY);
    expect(certificate.subject).toBe("CN=somebody");
  });

  test.each(["apiServer", "etcd", "controllerManager"] as const)(
    "nothing is lost when the %s is killed and comes back",
    async (name) => {
      const kept = { name: `kept-by-${name.toLowerCase()}`, namespace: DEFAULT };
      await client.create(CONFIG_MAPS, { metadata: kept, data: { key: "value" } });
      const { pid } = plane[name];
      await plane[name].kill();
      expect(plane[name].pid).toBeUndefined();
      const { readyAfterMs } = await plane[name].restart();
      expect(readyAfterMs).toBeGreaterThan(0);
      expect(plane[name].pid).not.toBe(pid);
      const found = await vi.waitFor(() => client.get(CONFIG_MAPS, kept), EVENTUALLY);
      expect(found.data).toEqual({ key: "value" });
    },
  );

  test("the API server answers nothing while it is paused, and continues when it is resumed", async () => {
    plane.apiServer.pause();
    await vi.waitFor(() => expect(stateOf(plane.apiServer.pid)).toBe("T"), EVENTUALLY);
    const answer = plane.request("GET", "/version");
    plane.apiServer.resume();
    expect(await answer).toMatchObject({ status: 200 });
  });

  test("a program that is down cannot be paused", async () => {
    await plane.controllerManager.kill();
    expect(() => plane.controllerManager.pause()).toThrow("the kube-controller-manager is down");
    await plane.controllerManager.restart();
  });

  test("connections through its proxy can be cut; those beside it stay", async () => {
    const { proxy, kubeconfig, port } = await plane.proxied();
    const far = kubeClientFor(kubeconfig);
    onTestFinished(far.close);
    expect(await far.read("/version")).toHaveProperty("gitVersion");
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    socket.on("error", () => undefined);
    const closed = once(socket, "close");
    proxy.cut();
    await closed;
    expect(await client.read("/version")).toHaveProperty("gitVersion");
    await vi.waitFor(() => far.read("/version"), EVENTUALLY);
  });

  test("a second one shares nothing with it, and leaves nothing behind", async () => {
    const second = await startControlPlane({ name: "second" });
    onTestFinished(second.dispose);
    const folder = dirname(kubeconfigPathOf(second.controllerManager.pid));
    const running = [second.apiServer, second.etcd, second.controllerManager].map(({ pid }) => pid);
    await done(["create", "namespace", "only-here"]);
    expect((await second.request("GET", "/api/v1/namespaces/only-here")).status).toBe(404);
    second.etcd.pause();
    expect(existsSync(folder)).toBe(true);
    await second.dispose();
    expect(existsSync(folder)).toBe(false);
    expect(running.map((pid) => existsSync(`/proc/${pid}`))).toEqual([false, false, false]);
  });

  async function done(args: readonly string[], stdin?: string): Promise<void> {
    expect(await plane.kubectl(args, stdin)).toMatchObject({ exitCode: 0 });
  }
});

test("where the programs are missing, it is said why and what to do", () => {
  const output: string[] = [];
  const assets = controlPlaneAssets({ KUBE_ASSETS_CACHE: "/nowhere" }, (line) => output.push(line));
  const why = expect.stringMatching(/in \/nowhere\/v1\.\S+\. Run npm run kube:assets/);
  expect(assets).toEqual({ isThere: false, why });
  expect(output).toEqual([
    expect.stringMatching(/^Tests on a real control plane are SKIPPED: there is no etcd/),
  ]);
});

test("where they are required, their absence is an error", () => {
  expect(() => controlPlaneAssets({ KUBE_ASSETS_CACHE: "/nowhere", KUBE_REQUIRED: "1" })).toThrow(
    "KUBE_REQUIRED is set, but there is no etcd",
  );
});

function pod(metadata: object, nodeName: string): object {
  const containers = [
    { name: "app", image: "shop", resources: { requests: { cpu: "500m", memory: "1Gi" } } },
  ];
  const status = { phase: "Running" };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName, containers }, status };
}

/** `T`: stopped by a signal. */
function stateOf(pid: number | undefined): string | undefined {
  return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
}

function kubeconfigPathOf(pid: number | undefined): string {
  return /--kubeconfig=([^\0]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? "";
}
