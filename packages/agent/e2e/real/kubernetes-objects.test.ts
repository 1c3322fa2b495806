import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { apiVersionOf, type Reservation, reservationKind } from "@resource-broker/contract/crd";
import {
  CLUSTER_ADVERTISEMENTS,
  controlPlaneAssets,
  realControlPlanes,
  startWorld,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESERVATIONS,
  RESOURCE_REQUESTS,
  type World,
  type WorldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { askFor, untilActive } from "../testing/resource-request.ts";

const run = promisify(execFile);
const START_TIMEOUT_MS = 600_000;

const assets = controlPlaneAssets();

const request = (name: string, spec: object): string =>
  JSON.stringify({
    apiVersion: apiVersionOf(reservationKind),
    kind: "Reservation",
    metadata: { name, namespace: "default" },
    spec,
  });
const FROM_ROME = {
  requesterID: "rome",
  requestedResources: { cpu: "500m", memory: "512Mi" },
  priority: 10,
};

/**
 * oslo and berlin speak HTTP, paris Kubernetes; the broker has both interfaces. rome, for which people ask, has no agent:
 * one would activate at once what they ask for.
 */
const MIXED_FLEET = [
  { name: "oslo", nodes: [{ cpu: "8", memory: "32Gi" }] },
  { name: "paris", nodes: [{ cpu: "16", memory: "64Gi" }], transport: "kubernetes" },
  { name: "berlin", nodes: [{ cpu: "12", memory: "48Gi" }] },
] as const;

describe.skipIf(!assets.isThere)(
  "the broker's objects as people and agents meet them, with a real API server in each cluster",
  () => {
    let world: World;
    let hub: WorldCluster;
    let kubectl: Kubectl;

    beforeAll(async () => {
      world = await startWorld({ clusters: MIXED_FLEET, hub: "hub", controlPlanes: realControlPlanes() });
      hub = world.cluster("hub");
      kubectl = kubectlOf(hub, assets.isThere ? assets.pathOf("kubectl") : "kubectl");
      for (const { name } of MIXED_FLEET) {
        await hub.until(CLUSTER_ADVERTISEMENTS, `${name}-adv`, ({ status }) => status?.phase === "Active");
      }
      return world.dispose;
    }, START_TIMEOUT_MS);

    const untilReserved = (clusterId: string, cpu: string): Promise<unknown> =>
      hub.until(
        CLUSTER_ADVERTISEMENTS,
        `${clusterId}-adv`,
        ({ spec }) => spec.resources.reserved?.cpu === cpu,
      );

    test("a Reservation is applied, granted by the best cluster, shown there, and released when it is deleted", async () => {
      expect(await kubectl("apply -f -", request("mine", FROM_ROME))).toMatchObject({ ok: true });
      const waited = await kubectl(
        "wait reservation/mine --for=jsonpath={.status.phase}=Reserved --timeout=60s",
      );
      expect(waited).toMatchObject({ ok: true });
      const { spec, status } = await hub.until(RESERVATIONS, "mine");
      expect(spec.targetClusterID).toBe("paris");
      await untilReserved("paris", "500m");
      await world
        .cluster("paris")
        .until(
          PROVIDER_INSTRUCTIONS,
          `${status?.reservationID}-provider`,
          (held) => held.status?.enforced === true,
        );
      expect(await kubectl("delete reservation mine --timeout=60s")).toMatchObject({ ok: true });
      await untilReserved("paris", "0");
      await world.cluster("paris").untilGone(PROVIDER_INSTRUCTIONS, `${status?.reservationID}-provider`);
    });

    test("a Reservation that names its cluster gets that one, or a reasoned refusal", async () => {
      await kubectl("apply -f -", request("there", { ...FROM_ROME, targetClusterID: "berlin" }));
      await hub.until(RESERVATIONS, "there", ({ status }) => status?.phase === "Reserved");
      await untilReserved("berlin", "500m");
      const huge = { cpu: "500", memory: "1Gi" };
      await kubectl(
        "apply -f -",
        request("huge", { ...FROM_ROME, requestedResources: huge, targetClusterID: "berlin" }),
      );
      const { status } = await hub.until(RESERVATIONS, "huge", (each) => each.status?.phase === "Failed");
      expect(status).toMatchObject({ reason: "NoCapacity", code: "no-capacity" });
      expect(status?.message).toMatch(/berlin/);
      expect(status?.explanation).toMatch(/berlin +needs .* more CPU/);
      expect(await kubectl("delete reservation there huge --timeout=60s")).toMatchObject({ ok: true });
      await untilReserved("berlin", "0");
    });

    test("a Reservation that waits is Pending, and gets what becomes free", async () => {
      const most = {
        ...FROM_ROME,
        requestedResources: { cpu: "9", memory: "1Gi" },
        targetClusterID: "berlin",
      };
      await kubectl("apply -f -", request("holder", most));
      await hub.until(RESERVATIONS, "holder", ({ status }) => status?.phase === "Reserved");
      await kubectl("apply -f -", request("patient", { ...most, wait: { for: "1h" } }));
      const queued = await kubectl("wait reservation/patient --for=condition=Queued --timeout=60s");
      expect(queued).toMatchObject({ ok: true });
      const waits = await hub.until(RESERVATIONS, "patient", ({ status }) => status?.queue?.place === "1/1");
      expect(waits.status).toMatchObject({ phase: "Pending", tenant: "rome" });
      const shorter = '{"spec":{"wait":{"for":"1m"}}}';
      const changed = await kubectl(`patch reservation patient --type=merge -p ${shorter}`);
      expect(changed).toMatchObject({ ok: false, text: expect.stringContaining("wait cannot be changed") });
      expect(await kubectl("delete reservation holder --timeout=60s")).toMatchObject({ ok: true });
      const { status } = await hub.until(
        RESERVATIONS,
        "patient",
        (each) => each.status?.phase === "Reserved",
      );
      expect(status?.reservationID).toBe(waits.status?.reservationID);
      expect(await kubectl("delete reservation patient --timeout=60s")).toMatchObject({ ok: true });
      await untilReserved("berlin", "0");
    });

    test("agents on either transport borrow from each other", async () => {
      const [oslo, paris, berlin] = ["oslo", "paris", "berlin"].map((name) => world.cluster(name));
      if (oslo === undefined || paris === undefined || berlin === undefined)
        throw new Error("three clusters");
      const specs = [
        { requester: oslo, provider: paris },
        { requester: paris, provider: berlin },
        { requester: berlin, provider: paris },
      ];
      for (const { requester, provider } of specs) {
        const name = `from-${provider.name}`;
        await askFor(requester, name, {
          requestedCPU: "2",
          requestedMemory: "4Gi",
          targetClusterID: provider.name,
        });
        const { reservationName, targetClusterID } = await untilActive(requester, name);
        expect(targetClusterID).toBe(provider.name);
        await requester.until(
          RESERVATION_INSTRUCTIONS,
          reservationName,
          ({ status }) => status?.delivered === true,
        );
        await provider.until(PROVIDER_INSTRUCTIONS, `${reservationName}-provider`);
        await hub.until(RESERVATIONS, reservationName, ({ status }) => status?.phase === "Active");
        await requester.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });
        await provider.untilGone(PROVIDER_INSTRUCTIONS, `${reservationName}-provider`);
        await requester.untilGone(RESERVATION_INSTRUCTIONS, reservationName);
        await hub.until(RESERVATIONS, reservationName, ({ status }) => status?.phase === "Released");
      }
      for (const name of ["paris", "berlin"]) await untilReserved(name, "0");
    });

    test("lists read well", async () => {
      await kubectl("apply -f -", request("shown", { ...FROM_ROME, duration: "1h" }));
      await hub.until<Reservation>(RESERVATIONS, "shown", ({ status }) => status?.phase === "Reserved");
      const { text } = await kubectl("get reservations shown -o wide");
      expect(text).toMatch(
        /NAME +REQUESTER +TARGET +CPU +MEMORY +PHASE +AGE +GPU +STORAGE +HUGEPAGES-2MI +QUEUE +TENANT +EXPIRES +REASON +MESSAGE/,
      );
      expect(text).toMatch(
        /shown +rome +paris +500m +512Mi +Reserved .*Use paris for 0.5 CPU \/ 512Mi Memory/,
      );
      await kubectl("delete reservation shown --timeout=60s");
    });
  },
);

/** What kubectl printed, on either stream, and whether it was content. */
interface KubectlResult {
  readonly ok: boolean;
  readonly text: string;
}

type Kubectl = (line: string, stdin?: string) => Promise<KubectlResult>;

/** kubectl as a person at this cluster runs it; words are parted by single spaces. */
function kubectlOf({ kubeconfigFile }: WorldCluster, program: string): Kubectl {
  return async (line, stdin = "") => {
    const calling = run(program, ["--kubeconfig", kubeconfigFile, ...line.split(" ")]);
    calling.child.stdin?.end(stdin);
    try {
      const { stdout, stderr } = await calling;
      return { ok: true, text: stdout + stderr };
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      return { ok: false, text: stdout + stderr };
    }
  };
}
