import {
  type AdvertisementDTO,
  type DecisionDTO,
  PATH,
  type ReservationDTO,
} from "@resource-broker/contract";
import {
  ADVERTISEMENTS,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  readTable,
  startWorld,
  type World,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { askFor, untilActive } from "./testing/resource-request.ts";

const NAME = "hugepages-2Mi";
const TIMEOUT_MS = 300_000;
const ASKED = { requestedCPU: "1", requestedMemory: "1Gi", extended: { [NAME]: "64Mi" } };

const priced = ["--price-cpu=0.04", "--price-memory=0.004", "--price-currency=EUR"];
const lends = [`--extended-resources=${NAME}`, "--price-hugepages-2mi=2"];

describe("a resource that is only a row of the table", () => {
  let world: World;
  let id: string;

  beforeAll(async () => {
    const node = { cpu: "8", memory: "32Gi" };
    world = await startWorld({
      clusters: [
        { name: "rome", nodes: [{ cpu: "1", memory: "4Gi" }] },
        { name: "paris", nodes: [{ ...node, others: { [NAME]: "1Gi" } }], flags: [...priced, ...lends] },
        { name: "oslo", nodes: [{ ...node, cpu: "32" }], flags: priced },
      ],
    });
    return world.dispose;
  }, TIMEOUT_MS);

  const read = async <T>(path: string): Promise<T> => {
    const { status, body } = await world.broker.admin().request("GET", path);
    expect(status).toBe(200);
    return body as T;
  };
  const paris = () => read<AdvertisementDTO>(PATH.advertisement("paris"));
  /** The cells of its column, as `kubectl get -o wide` shows them. */
  const shown = async (cluster: string, plural: string): Promise<unknown[]> => {
    const path = `/apis/rear.fluidos.eu/v1alpha1/namespaces/default/${plural}` as const;
    const { columnDefinitions, rows } = await readTable(world.cluster(cluster).kubeconfig, path);
    const at = columnDefinitions.findIndex(({ name }) => name === "HugePages-2Mi");
    return rows.map(({ cells }) => cells[at]);
  };

  test("is advertised with its price", { timeout: TIMEOUT_MS }, async () => {
    await world
      .cluster("paris")
      .until(ADVERTISEMENTS, "cluster-advertisement", ({ status }) => status?.published === true);
    expect(await paris()).toMatchObject({
      resources: { allocatable: { extended: { [NAME]: "1Gi" } }, available: { extended: { [NAME]: "1Gi" } } },
      cost: { extendedCost: { [NAME]: "2" } },
    });
    expect(await shown("paris", "advertisements")).toEqual(["1Gi"]);
  });

  test("is requested, decided and priced per GB", { timeout: TIMEOUT_MS }, async () => {
    await askFor(world.cluster("rome"), "fast-memory", ASKED);
    const { request, reservationName, targetClusterID } = await untilActive(
      world.cluster("rome"),
      "fast-memory",
    );
    id = reservationName;
    expect(targetClusterID).toBe("paris");
    expect(request.status?.message).toBe("Use paris for 1 CPU / 1Gi Memory / 64Mi HugePages-2Mi");
    const perHour = 0.04 + 0.004 * (2 ** 30 / 1e9) + 2 * (2 ** 26 / 1e9);
    expect(Number(request.status?.cost?.perHour)).toBeCloseTo(perHour, 9);
    const decision = await read<DecisionDTO>(PATH.decision(request.status?.decisionID ?? ""));
    expect(decision.candidates).toContainEqual(
      expect.objectContaining({ clusterID: "oslo", message: "offers no HugePages-2Mi" }),
    );
    expect(await shown("rome", "resourcerequests")).toEqual(["64Mi"]);
  });

  test("is held on both sides", { timeout: TIMEOUT_MS }, async () => {
    const held = { requestedCPU: "1", extended: { [NAME]: "64Mi" } };
    const [instruction, hold] = await Promise.all([
      world.cluster("rome").until(RESERVATION_INSTRUCTIONS, id),
      world.cluster("paris").until(PROVIDER_INSTRUCTIONS, `${id}-provider`),
    ]);
    expect([instruction.spec, hold.spec]).toMatchObject([held, held]);
    const { resources } = await paris();
    expect(resources.reserved).toMatchObject({ extended: { [NAME]: "64Mi" } });
    expect(resources.available).toMatchObject({ extended: { [NAME]: "960Mi" } });
    expect(await read<ReservationDTO>(PATH.reservation(id))).toMatchObject({
      requestedResources: { extended: { [NAME]: "64Mi" } },
    });
  });
});
