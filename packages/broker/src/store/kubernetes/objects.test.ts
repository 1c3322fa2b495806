import {
  clusterAdvertisementKind,
  type ClusterAdvertisement,
  KUBE_LABEL,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract";
import { resourceVector } from "@resource-broker/domain";
import { customResource } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../sqlite/testing/grants.ts";
import { useServer } from "./testing/servers.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { newLedger, replica } = useServer(simulatedServer);
const RESERVATIONS = customResource(reservationKind);
const ADVERTISEMENTS = customResource(clusterAdvertisementKind);
const GO_STATUS = { phase: "Reserved", reservedAt: "2026-01-05T11:00:00Z" } as const;

describe("a ledger that begins where the Go broker has worked", () => {
  /** A Reservation as a broker or a person left it there. */
  async function leave(
    { client, namespace }: TestLedger,
    name: string,
    parts: {
      readonly spec?: Partial<Reservation["spec"]>;
      readonly status?: Reservation["status"];
      readonly labels?: Record<string, string>;
    },
  ): Promise<Reservation> {
    const made = await client.create(RESERVATIONS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "Reservation",
      metadata: { name, namespace, labels: parts.labels ?? {} },
      spec: {
        requesterID: "rome",
        targetClusterID: "paris",
        requestedResources: { cpu: "500m", memory: "1Gi" },
        ...parts.spec,
      },
    });
    if (parts.status === undefined) return made;
    return client.update(RESERVATIONS, { ...made, status: parts.status }, { subresource: "status" });
  }

  it("takes its reservations over, once", async () => {
    const ledger = await newLedger();
    const { metadata } = await leave(ledger, "paris-reservation-1", {
      status: { ...GO_STATUS, expiresAt: "2027-01-05T11:00:00Z" },
    });
    await leave(ledger, "in-use", { status: { phase: "Active" } });
    const store = replica(ledger);
    const { records, commitNumber } = await store.open();
    expect(commitNumber).toBe(0);
    const imported = new Map(records.reservations.map((each) => [each.id, each]));
    expect([...imported.keys()].sort()).toEqual(["in-use", "paris-reservation-1"]);
    expect(imported.get("in-use")?.phase).toBe("Active");
    expect(imported.get("paris-reservation-1")).toMatchObject({
      requester: "rome",
      provider: "paris",
      granted: resourceVector({ cpuMillis: 500, memoryBytes: 2 ** 30 }),
      phase: "Reserved",
      key: metadata.uid,
      reservedAt: Date.UTC(2026, 0, 5, 11),
      expiresAt: Date.UTC(2027, 0, 5, 11),
    });
    expect(records.time).toBeGreaterThan(0);
    await store.close();

    await leave(ledger, "later", { status: GO_STATUS });
    const again = await replica(ledger).open();
    expect(again.records.reservations.map(({ id }) => id).sort()).toEqual(["in-use", "paris-reservation-1"]);
  });

  it.each([
    { name: "one that waits for an answer", parts: {} },
    { name: "one that has ended", parts: { status: { phase: "Released" } } },
    { name: "one of another ledger", parts: { status: { ...GO_STATUS, ledgerID: "led-1" } } },
    { name: "a view", parts: { status: GO_STATUS, labels: { [KUBE_LABEL.view]: "true" } } },
  ] as const)("leaves alone $name", async ({ parts }) => {
    const ledger = await newLedger();
    await leave(ledger, "some", parts);
    expect((await replica(ledger).open()).records.reservations).toEqual([]);
  });
});

describe("status.holds of a provider's ClusterAdvertisement", () => {
  const nameOf = ({ namespace }: TestLedger) => ({ name: "paris-adv", namespace });

  async function advertised() {
    const ledger = await newLedger();
    const amounts = { cpu: "64", memory: "256Gi" };
    const spec = {
      clusterID: "paris",
      resources: { capacity: amounts, allocatable: amounts, allocated: { cpu: "0", memory: "0" } },
      timestamp: "2026-01-05T11:00:00Z",
    };
    await ledger.client.create(ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: nameOf(ledger),
      spec,
    });
    const store = replica(ledger);
    await store.open();
    return { ledger, store, grants: new Grants() };
  }

  const shown = (ledger: TestLedger, count: number): Promise<ClusterAdvertisement> =>
    until(`${count} holds are shown`, async () => {
      const found = await ledger.client.get(ADVERTISEMENTS, nameOf(ledger));
      return (found.status?.holds ?? []).length === count ? found : undefined;
    });

  it("shows what the ledger lends, beside what others write there", async () => {
    const { ledger, store, grants } = await advertised();
    const body = { status: { phase: "Active", score: "62.50" } };
    const change = { name: nameOf(ledger), patch: { kind: "merge", body } } as const;
    await ledger.client.patch(ADVERTISEMENTS, change, { subresource: "status" });
    await grants.commit(store, 2);
    const { status } = await shown(ledger, 2);
    expect(status).toMatchObject({ phase: "Active", score: "62.50", epoch: 1 });
    expect(status?.holds?.[0]).toMatchObject({ requesterID: "rome", granted: { cpu: "1", memory: "1Gi" } });
    const id = status?.holds?.[0]?.id ?? "";
    const by = { clusterId: "rome", isAdmin: false };
    const release = grants.story.batch({ kind: "release", by, id });
    if (release !== undefined) await store.commit(release);
    await shown(ledger, 1);
  });

  it("is put right after a restart, also where somebody has changed it", async () => {
    const { ledger, store, grants } = await advertised();
    await grants.commit(store, 1);
    await shown(ledger, 1);
    await store.close();
    const body = { status: { holds: [] } };
    const change = { name: nameOf(ledger), patch: { kind: "merge", body } } as const;
    await ledger.client.patch(ADVERTISEMENTS, change, { subresource: "status" });
    await replica(ledger).open();
    expect((await shown(ledger, 1)).status).toMatchObject({ epoch: 2, commit: 1 });
  });
});
