import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { formatTime } from "@resource-broker/base";
import { toQuantities } from "@resource-broker/contract";
import {
  type BrokerPolicy,
  brokerPolicyKind,
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  KUBE_LABEL,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { DEFAULT_POLICY } from "@resource-broker/domain";
import { cluster, request, size } from "@resource-broker/domain/testing";
import { customResource, eventRecorder, type KubeClient } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import {
  controlPlaneAssets,
  kubeClientFor,
  memoryStore,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine } from "../../src/engine/create-engine.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { NO_OBSERVER } from "../../src/engine/engine-observer.ts";
import { createKubernetesInterface } from "../../src/interface/kubernetes/kubernetes-interface.ts";
import type { KubernetesPart } from "../../src/interface/kubernetes/ports.ts";
import { policyInForce } from "../../src/policy/policy.ts";

const START_TIMEOUT_MS = 600_000;
const DEPLOY = join(import.meta.dirname, "../../../../deploy");
const NAMESPACE = "default";
const RESERVATIONS = customResource(reservationKind);
const ADVERTISEMENTS = customResource(clusterAdvertisementKind);
const POLICIES = customResource(brokerPolicyKind);
const ID = "rsv-rome-aaaaaaaaaaaaaaaa";

const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
const silent = (): void => undefined;
const log = { info: silent, warn: silent, error: silent };

/** A broker with the rights that are shipped, at an API server with the shipped rules for agents. */
async function startEnvironment() {
  const plane: RealControlPlane = await startControlPlane({ name: "views" });
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stderr, stdout } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  await kubectl("apply", "--server-side", "-f", join(DEPLOY, "crds"));
  await kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  for (const file of ["rbac/broker.yaml", "rbac/broker-agents.yaml", "admission/agent-writes.yaml"])
    await kubectl("apply", "-f", join(DEPLOY, file));
  await kubectl("create", "serviceaccount", "agent-paris");
  await kubectl(
    "create",
    "rolebinding",
    "agent-paris",
    "--role=resource-broker-agents",
    `--serviceaccount=${NAMESPACE}:agent-paris`,
  );
  const account = { namespace: "resource-broker-system", name: "resource-broker" };
  const client = kubeClientFor(await plane.kubeconfigFor(account));
  const agent = kubeClientFor(await plane.kubeconfigFor({ namespace: NAMESPACE, name: "agent-paris" }));
  const store = memoryStore();
  const engine = createEngine(
    { policy: DEFAULT_POLICY, maxWaiting: 1000 },
    {
      store,
      clock,
      observer: NO_OBSERVER,
      defer: setImmediate,
      onFatal: silent,
      newDecisionId: () => `dec-${randomBytes(8).toString("hex")}`,
    },
  );
  await engine.start();
  const force = policyInForce({ use: ({ policy }) => engine.setPolicy(policy), log });
  const random = () => randomBytes(4).readUInt32BE() / 2 ** 32;
  const deps = { client, clock, random, log };
  const recorder = eventRecorder({ component: "resource-broker", instance: "one" }, deps);
  const served: KubernetesPart = createKubernetesInterface(
    { namespace: NAMESPACE, replica: "one", views: true, objects: true },
    {
      ...deps,
      engine,
      store,
      recorder,
      randomBytes,
      isLeading: () => true,
      sliceDefaults: () => force.now().sliceDefaults,
      onPolicy: force.fromObject,
    },
  );
  await served.start();
  return {
    plane,
    kubectl,
    engine,
    agent,
    dispose: async () => {
      await served.stop();
      await recorder.stop();
      await engine.stop();
      client.close();
      agent.close();
      await plane.dispose();
    },
  };
}

const advertise = (engine: Engine, clusterId: string, sequence: number) =>
  engine.submit({
    kind: "advertise",
    advertisement: cluster(clusterId, { more: { statedAt: clock.wallMs(), instance: "http", sequence } }),
  });

describe.skipIf(!controlPlaneAssets().isThere)("views and the policy at a real API server", () => {
  let env: Awaited<ReturnType<typeof startEnvironment>>;
  let admin: KubeClient;

  beforeAll(async () => {
    env = await startEnvironment();
    admin = kubeClientFor(env.plane.kubeconfig);
    await advertise(env.engine, "paris", 1);
    await advertise(env.engine, "tokyo", 1);
    await env.engine.submit({
      kind: "reserve",
      requester: "rome",
      request: request({ cpu: 4, memoryGi: 8 }, { target: "paris", durationMs: 3_600_000 }),
      reservationId: ID,
      decisionId: "dec-1",
    });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    admin?.close();
    await env?.dispose();
  }, START_TIMEOUT_MS);

  const reservation = (isRight: (object: Reservation) => boolean) =>
    until("the reservation is shown", async () => {
      const object = await admin.find(RESERVATIONS, { namespace: NAMESPACE, name: ID });
      return object !== undefined && isRight(object) ? object : undefined;
    });
  const paris = (isRight: (object: ClusterAdvertisement) => boolean) =>
    until("paris is shown", async () => {
      const object = await admin.find(ADVERTISEMENTS, { namespace: NAMESPACE, name: "paris-adv" });
      return object !== undefined && isRight(object) ? object : undefined;
    });
  const isView = ({ metadata }: ClusterAdvertisement | Reservation): boolean =>
    metadata.labels?.[KUBE_LABEL.view] === "true";

  test("read well to a person", async () => {
    await reservation(({ status }) => status?.phase === "Reserved");
    await paris(({ status }) => status?.active === true);
    const clusters = await env.kubectl("get", "clusteradvertisements", "-o", "wide");
    const reservations = await env.kubectl("get", "reservations", "-o", "wide");
    expect(clusters).toMatch(/paris-adv .*Active/);
    expect(reservations).toMatch(/rome .*paris .*Reserved/);
  });

  const UNLABEL = `{"metadata":{"labels":{"${KUBE_LABEL.view}":null}}}`;
  test.each([
    ["an amount", "cadv/paris-adv", '{"spec":{"resources":{"reserved":{"cpu":"0"}}}}'],
    ["a price", "cadv/paris-adv", '{"spec":{"cost":{"cpuCost":"1","memoryCost":"1","currency":"EUR"}}}'],
    ["a cluster's label", "cadv/paris-adv", UNLABEL],
    ["a phase", `rsv/${ID}`, '{"status":{"phase":"Released","reason":"Expired"}}'],
    ["a reservation's label", `rsv/${ID}`, UNLABEL],
  ])("are put right when somebody edits %s", async (_, object, body) => {
    const part = body.startsWith('{"status"') ? ["--subresource=status"] : [];
    await env.kubectl("patch", object, ...part, "--type=merge", "-p", body);
    await paris(
      (shown) => isView(shown) && shown.spec.cost === undefined && shown.spec.resources.reserved?.cpu === "4",
    );
    await reservation((shown) => {
      const { phase, reason } = shown.status ?? {};
      return isView(shown) && phase === "Reserved" && reason === undefined;
    });
    expect(env.engine.ledger.reservations.size).toBe(1);
  });

  test("are handed over to an agent that comes by Kubernetes with no more rights than agents have, and back", async () => {
    const capacity = toQuantities(size({ cpu: 8, memoryGi: 32 }));
    const allocated = toQuantities(size({}));
    await env.agent.apply(
      ADVERTISEMENTS,
      {
        metadata: { name: "paris-adv", namespace: NAMESPACE },
        spec: {
          clusterID: "paris",
          resources: { capacity, allocatable: capacity, allocated },
          timestamp: formatTime(clock.wallMs()),
          instance: "kubernetes",
          sequence: 1,
        },
      },
      { fieldManager: "resource-broker-agent", force: true },
    );
    const taken = await paris(({ status }) => status?.accepted?.instance === "kubernetes");
    expect(isView(taken)).toBe(false);
    expect(env.engine.ledger.accounts.get("paris")?.advertisement?.capacity.cpuMillis).toBe(8000);
    expect(taken.spec.clusterName).toBeUndefined();
    await env.engine.submit({
      kind: "advertise",
      advertisement: cluster("paris", {
        more: { statedAt: clock.wallMs(), instance: "http-2", sequence: 1 },
      }),
    });
    const back = await paris((object) => isView(object) && object.status?.accepted?.instance === "http-2");
    expect(back.spec).toMatchObject({ instance: "http-2", resources: { capacity: { cpu: "16" } } });
  });

  test("come back when their definitions were deleted and are there again, and the reservation is not released", async () => {
    await env.kubectl(
      "delete",
      "crd",
      "reservations.broker.fluidos.eu",
      "clusteradvertisements.broker.fluidos.eu",
    );
    await env.kubectl("apply", "--server-side", "-f", join(DEPLOY, "crds"));
    await reservation(({ status }) => status?.phase === "Reserved");
    await paris(({ status }) => status?.active === true);
    expect(env.engine.ledger.reservations.get(ID)?.phase).toBe("Reserved");
  });

  test("the policy is followed, and its status says so", async () => {
    const apply = (spec: BrokerPolicy["spec"]) =>
      admin.apply(
        POLICIES,
        { metadata: { name: "default", namespace: NAMESPACE }, spec },
        { fieldManager: "kubectl", force: true },
      );
    const status = (isRight: (written: NonNullable<BrokerPolicy["status"]>) => boolean) =>
      until("the policy's status", async () => {
        const written = (await admin.find(POLICIES, { namespace: NAMESPACE, name: "default" }))?.status;
        return written !== undefined && isRight(written) ? written : undefined;
      });
    await apply({ version: "2026-07", staleness: "1m", maxTTL: "168h" });
    await status(({ inForce, version }) => inForce === true && version === "2026-07");
    expect(env.engine.policy).toMatchObject({ version: "2026-07", stalenessMs: 60_000 });
    await apply({ version: "2026-08", weights: { latency: 1 } });
    const written = await status(({ inForce }) => inForce === false);
    expect(written).toMatchObject({ version: "2026-07", observedGeneration: 2 });
    await expect(apply({ defaultTTL: "2h", maxTTL: "1h" })).rejects.toThrow("must not be longer than maxTTL");
    await env.kubectl("delete", "brokerpolicy", "default");
    await until("the built-in policy", async () =>
      Promise.resolve(env.engine.policy.version === "default" ? true : undefined),
    );
  });
});
