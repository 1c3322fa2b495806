import { type ClusterAdvertisement, clusterAdvertisementKind } from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { useServer } from "./testing/servers.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { newLedger, replica } = useServer(simulatedServer);
const ADVERTISEMENTS = customResource(clusterAdvertisementKind);

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
