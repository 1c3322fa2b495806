/** Both charts, with the images of `make images`, in real clusters of kind: kubelets, containers, kube-proxy, NetworkPolicies. */
import { until } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../generate/files.ts";
import { chartFolder } from "../testing/helm.ts";
import {
  AGENT_NAMESPACE,
  BROKER_NAMESPACE,
  createAgentSecret,
  createBrokerSecret,
  type Fleet,
  installFleet,
  removeRest,
  startFleet,
  uninstallFleet,
} from "./testing/fleet.ts";
import { allInCluster, run } from "./testing/kind-cluster.ts";
import {
  pidInNode,
  reachFromProgram,
  reachFromShell,
  readyPod,
  restarts,
  startShellPod,
  type Workload,
} from "./testing/pods.ts";

const TIMEOUT = 600_000;
const ROLE_LABEL = "broker.fluidos.eu/role";
/** Generous: a busy machine is no failure. */
const CONVERGENCE = { timeout: 180_000, interval: 200 };

const saw = (line: string): void => void process.stdout.write(`kind: ${line}\n`);
const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

describe("installed by Helm in two clusters of kind", { timeout: TIMEOUT }, () => {
  let fleet: Fleet;
  let before: readonly string[];
  /** The name of the reservation that all tests after its own find again. */
  let reservation = "";

  beforeAll(async () => {
    const began = performance.now();
    fleet = await startFleet();
    saw(
      `two clusters of ${(await fleet.rome.kubectl("version")).match(/Server Version: (\S+)/)?.[1]} in ${seconds(began)}`,
    );
    before = await allInCluster(fleet.rome);
    const installing = performance.now();
    await installFleet(fleet);
    saw(`broker and two agents installed and ready in ${seconds(installing)}`);
  }, TIMEOUT);
  afterAll(() => fleet?.dispose(), TIMEOUT);

  const programs = (): readonly Workload[] => [fleet.broker, ...fleet.agents];

  /** What the requester, the provider and the broker say of the reservation. */
  const accounts = async (): Promise<readonly string[]> => {
    const { rome, paris } = fleet;
    return Promise.all([
      rome.kubectl("get resourcerequest more -o jsonpath={.status.phase}"),
      rome.kubectl(`get reservationinstruction ${reservation} -o jsonpath={.spec.targetClusterID}`),
      paris.kubectl(`get providerinstruction ${reservation}-provider -o jsonpath={.status.enforced}`),
      rome.kubectl(`get reservation ${reservation} -n ${BROKER_NAMESPACE} -o jsonpath={.status.phase}`),
    ]);
  };
  const LIVE = ["Active", "paris", "true", "Active"];

  test("programs run as 65532, without any capability, on a root that cannot be written", async () => {
    for (const workload of programs()) {
      const { cluster, namespace, name, program } = workload;
      const pid = await pidInNode(workload);
      const status = await cluster.inNode("cat", `/proc/${pid}/status`);
      const field = (key: string): string | undefined =>
        new RegExp(`^${key}:\\s*(.*)$`, "m").exec(status)?.[1];
      expect(["Uid", "Gid", "CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp"].map(field)).toEqual([
        ...Array(2).fill("65532\t65532\t65532\t65532"),
        ...Array(3).fill("0000000000000000"),
        "1",
        "2",
      ]);
      const root = (await cluster.inNode("cat", `/proc/${pid}/mounts`))
        .split("\n")
        .find((line) => line.split(" ")[1] === "/");
      expect(root?.split(" ")[3]?.split(",")).toContain("ro");
      const write = `require("node:fs").writeFileSync("/app/x", "")`;
      await expect(
        cluster.kubectl(`exec ${name} -n ${namespace} -- /nodejs/bin/node -e`, write),
      ).rejects.toThrow("EROFS");
      saw(`${program} in ${cluster.name}: uid 65532, no capability, seccomp on, read-only root`);
    }
  });

  test("a cluster that was invited has joined by one line, and nothing of the invitation can be used again", async () => {
    const { paris, brokerctl } = fleet;
    const secret = (name: string, field: string): Promise<string> =>
      paris.kubectl(`get secret ${name} -n ${AGENT_NAMESPACE} -o jsonpath={.data.${field}}`);
    const members = await brokerctl("get members");
    expect(members).toMatch(/^paris\s+joined/m);
    // Its agent has an identity key, too, beside the certificate that it was given.
    expect(members).toMatch(/^rome\s+joined/m);
    expect(await secret("resource-broker-join", "brokerURLs")).not.toBe("");
    expect(await secret("resource-broker-join", "token")).toBe("");
    expect(await secret("resource-broker-agent-identity", "tls\\.crt")).not.toBe("");
    expect(await paris.kubectl(`get secrets -n ${AGENT_NAMESPACE} -o name`)).not.toContain(
      "agent-client-tls",
    );
    await expect(brokerctl("invite paris")).rejects.toThrow("--replace");
    saw("paris joined by brokerctl invite | brokerctl join; its token is gone");
  });

  const requestMore = async (): Promise<void> => {
    const { rome } = fleet;
    await rome.apply({
      apiVersion: "rear.fluidos.eu/v1alpha1",
      kind: "ResourceRequest",
      metadata: { name: "more", namespace: "default" },
      spec: { requestedCPU: "500m", requestedMemory: "256Mi", duration: "1h" },
    });
    reservation = await until("the request has a reservation", async () => {
      const name = await rome.kubectl("get resourcerequest more -o jsonpath={.status.reservationName}");
      return name === "" ? undefined : name;
    });
  };

  test("a reservation is granted, and both sides have it", async () => {
    const began = performance.now();
    await requestMore();
    await expect.poll(accounts, CONVERGENCE).toEqual(LIVE);
    saw(`500m CPU and 256Mi reserved on both sides in ${seconds(began)}: ${reservation}`);
  });

  test("programs have all the rights they need, and stay below their memory limit", async () => {
    for (const workload of programs()) {
      const { cluster, namespace, name, program } = workload;
      const lines = (await cluster.kubectl(`logs ${name} -n ${namespace}`)).split("\n");
      expect(
        lines.filter((line) => /may not|forbidden/i.test(line) && !line.includes("Liqo is not detected")),
      ).toEqual([]);
      const status = await cluster.inNode("cat", `/proc/${await pidInNode(workload)}/status`);
      const peakMi = Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
      const limit = "-o jsonpath={.spec.template.spec.containers[0].resources.limits.memory}";
      const [, most, unit] =
        /^(\d+)([MG])i$/.exec(await cluster.kubectl(`get ${name} -n ${namespace} ${limit}`)) ?? [];
      expect(peakMi).toBeLessThan(Number(most) * (unit === "G" ? 1024 : 1));
      saw(`${program} in ${cluster.name}: at most ${peakMi.toFixed(0)} of ${most} ${unit}i`);
    }
  });

  test("policies let through whom they should, and nobody else", async () => {
    const { rome, broker } = fleet;
    const [agent] = fleet.agents;
    await startShellPod(rome, "strangers");
    const [at, agentAt] = await Promise.all([readyPod(broker), readyPod(agent)]);
    const stranger = await rome.kubectl("get pod shell -n strangers -o jsonpath={.status.podIP}");
    const service = `resource-broker.${BROKER_NAMESPACE}.svc:9443`;
    const [brokerIP, agentIP] = [at.status.podIP, agentAt.status.podIP];

    const closed = [
      `${brokerIP}:8443`,
      service,
      `${brokerIP}:8080`,
      `${brokerIP}:8081`,
      `${agentIP}:8080`,
      `${agentIP}:8081`,
    ];
    const tried = await Promise.all(closed.map((target) => reachFromShell(rome, "strangers", target)));
    expect(closed.filter((_, index) => tried[index] !== "nothing came back")).toEqual([]);
    expect(await reachFromProgram(agent, service)).toBe("connected");
    for (const workload of [broker, agent]) {
      expect(await reachFromProgram(workload, `${stranger}:9999`)).toBe("nothing came back");
    }

    // The same pod, with nothing changed but a label of its namespace: so it was the policy.
    await rome.kubectl("label namespace strangers metrics=enabled");
    for (const target of [`${brokerIP}:8080`, `${agentIP}:8080`]) {
      await until(
        `metrics of ${target} can be scraped`,
        async () => (await reachFromShell(rome, "strangers", target)) === "connected" || undefined,
      );
    }
    expect(await reachFromShell(rome, "strangers", `${brokerIP}:8443`)).toBe("nothing came back");
    await rome.kubectl("delete namespace strangers --wait=false");
    saw(
      `${closed.length} ports closed to a stranger, metrics open to who may scrape; the agent reaches the broker by port 9443 of its Service`,
    );
  });

  test("a pod that is deleted is Ready again, and the reservation is there", async () => {
    for (const workload of programs()) {
      const { cluster, namespace, program } = workload;
      const { metadata } = await readyPod(workload);
      const began = performance.now();
      await cluster.kubectl(`delete pod ${metadata.name} -n ${namespace}`);
      await readyPod(workload, (pod) => pod.metadata.uid !== metadata.uid);
      await expect.poll(accounts, CONVERGENCE).toEqual(LIVE);
      saw(`${program} in ${cluster.name}: pod deleted, Ready with its reservation after ${seconds(began)}`);
    }
  });

  test("a program that is killed is Ready again, and the reservation is there", async () => {
    for (const workload of programs()) {
      const { cluster, program } = workload;
      const killed = await readyPod(workload);
      const began = performance.now();
      await cluster.inNode("kill", "-KILL", await pidInNode(workload));
      await readyPod(workload, (pod) => restarts(pod) > restarts(killed));
      await expect.poll(accounts, CONVERGENCE).toEqual(LIVE);
      saw(`${program} in ${cluster.name}: killed, Ready with its reservation after ${seconds(began)}`);
    }
  });

  test("an upgrade to another image keeps the reservation", async () => {
    const { rome, broker } = fleet;
    const began = performance.now();
    for (const workload of [broker, fleet.agents[0]]) {
      const { program, namespace } = workload;
      const image = `resource-broker/${program}:upgraded`;
      const release = program === "broker" ? "resource-broker" : "resource-broker-agent";
      const dockerfile = `FROM resource-broker/${program}:0.1.0\nLABEL upgraded=yes\n`;
      await run("docker", ["build", "--tag", image, "-"], { stdin: dockerfile });
      await rome.load(image);
      const upgrade = `upgrade ${release} ${chartFolder(program)} -n ${namespace} --reuse-values --wait --timeout 180s`;
      await rome.helm(upgrade, { image: { tag: "upgraded" }, log: { level: "debug" } });
      const { status } = await readyPod(workload);
      expect(status.containerStatuses?.[0]?.image).toContain(":upgraded");
      await expect.poll(accounts, CONVERGENCE).toEqual(LIVE);
    }
    saw(`helm upgrade of broker and agent: the reservation is kept, ${seconds(began)}`);
  });

  test("uninstalling leaves kinds and ledger, and then nothing, as docs/install.md says", async () => {
    const { rome } = fleet;
    await uninstallFleet(fleet);
    const kinds = (await rome.kubectl("get crd -o name"))
      .split("\n")
      .filter((name) => name.endsWith(".fluidos.eu"));
    expect(kinds).toHaveLength(7);
    expect(await rome.kubectl(`get pvc -n ${BROKER_NAMESPACE} -o name`)).toContain(
      "ledger-resource-broker-0",
    );
    for (const namespace of [BROKER_NAMESPACE, AGENT_NAMESPACE]) {
      const left =
        "deployments,statefulsets,services,networkpolicies,roles,rolebindings,poddisruptionbudgets";
      expect(await rome.kubectl(`get ${left} -n ${namespace} -o name`)).toBe("");
    }
    expect(await rome.kubectl(`get secrets -n ${AGENT_NAMESPACE} -o name`)).toContain(
      "resource-broker-agent-identity",
    );
    await removeRest(fleet);
    await expect.poll(() => allInCluster(rome), CONVERGENCE).toEqual(before);
    saw(`uninstalled: ${before.length} objects in the cluster, the same as before`);
  });

  test("two brokers with the ledger in objects: one serves, also the dashboard; at its stop the other takes over", async () => {
    const { rome, broker } = fleet;
    const values = { replicas: 2, store: { type: "kubernetes" }, interfaces: ["http", "kubernetes"] };
    await installFleet(fleet, { ...values, dashboard: { enabled: true } });
    const leader = (except?: string): ReturnType<typeof readyPod> =>
      readyPod(
        broker,
        ({ metadata: { uid, labels } }) => labels?.[ROLE_LABEL] === "leader" && uid !== except,
      );
    await requestMore();
    await expect.poll(accounts, CONVERGENCE).toEqual(LIVE);
    const { metadata } = await leader();
    const pod = `${metadata.name} -n ${BROKER_NAMESPACE}`;
    const page = `fetch("http://127.0.0.1:8090/").then((reply) => reply.text()).then(console.log)`;
    expect(await rome.kubectl(`exec ${pod} -- /nodejs/bin/node -e`, page)).toContain('<div id="page">');

    const log = rome.kubectl(`logs -f ${pod}`);
    const began = performance.now();
    await rome.kubectl(`delete pod ${pod} --wait=false`);
    const next = await leader(metadata.uid);
    await expect.poll(accounts, CONVERGENCE).toEqual(LIVE);
    expect((await log).trim().split("\n").at(-1)).toContain("the broker has stopped");
    saw(`${metadata.name} stopped, ${next.metadata.name} leads with the reservation after ${seconds(began)}`);
    await uninstallFleet(fleet);
    await removeRest(fleet);
  });

  test("kustomize installs broker and agent, and make undeploy leaves the ledger, as docs/install.md says", async () => {
    const { rome, broker } = fleet;
    const [agent] = fleet.agents;
    const kubectl = `KUBECTL=kubectl --kubeconfig ${rome.kubeconfig}`;
    const make = (...line: readonly string[]): Promise<string> => run("make", ["-C", ROOT, kubectl, ...line]);
    await make("deploy");
    await make("deploy", "COMPONENT=agent");
    await rome.kubectl(`apply -k ${ROOT}/deploy/kustomize/network-policy`);
    await createBrokerSecret(fleet);
    await createAgentSecret(fleet, rome);
    // Ready: the broker has accepted its first advertisement.
    await Promise.all([broker, agent].map((workload) => readyPod(workload)));
    await make("undeploy", "COMPONENT=agent");
    await make("undeploy");
    expect(
      await rome.kubectl("get deployments,statefulsets -A -l app.kubernetes.io/part-of=resource-broker"),
    ).toBe("");
    expect(await rome.kubectl(`get pvc -n ${BROKER_NAMESPACE} -o name`)).toContain(
      "ledger-resource-broker-0",
    );
    saw("kustomize: broker and agent ready, and taken out again");
  });
});
