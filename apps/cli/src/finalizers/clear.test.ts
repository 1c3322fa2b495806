import { BROKER_LEASE, RESERVATION_FINALIZER } from "@resource-broker/contract/crd";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OneCluster, startOneCluster } from "../testing/one-cluster.ts";

const OTHER = "example.org/other";

function reservation(name: string, finalizers: readonly string[] = [RESERVATION_FINALIZER]) {
  return {
    apiVersion: "broker.fluidos.eu/v1alpha1",
    kind: "Reservation",
    metadata: { name, namespace: "default", finalizers },
    spec: { requestedResources: { cpu: "4", memory: "8Gi" }, requesterID: "rome" },
    status: { phase: "Reserved" },
  };
}

function lease(renewedAt: number) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: BROKER_LEASE, namespace: "default" },
    spec: {
      holderIdentity: "broker-1",
      leaseDurationSeconds: 15,
      renewTime: new Date(renewedAt).toISOString(),
    },
  };
}

async function abandoned(): Promise<OneCluster> {
  const objects = [
    reservation("mine"),
    reservation("shared", [OTHER, RESERVATION_FINALIZER]),
    reservation("free", []),
  ];
  const cluster = await startOneCluster(onTestFinished, { objects });
  deleteIt(cluster, "mine");
  return cluster;
}

describe("finalizers clear", () => {
  const CLEAR = ["finalizers", "clear"];

  test("lists what it would do, and changes nothing", async () => {
    const cluster = await abandoned();
    const { code, out, err } = await cluster.run(...CLEAR);
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.split(/ {3,}/u).slice(1, 7))).toEqual([
      ["NAME", "REQUESTER", "TARGET", "PHASE", "DELETED", "FINALIZER"],
      ["mine", "rome", "-", "Reserved", "yes", "there"],
      ["shared", "rome", "-", "Reserved", "no", "there"],
      [],
    ]);
    expect(err).toBe("Nothing was changed. Take the finalizer off 2 Reservations: the same with --yes\n");
    expect(finalizersOf(cluster)).toEqual({
      free: [],
      mine: [RESERVATION_FINALIZER],
      shared: [OTHER, RESERVATION_FINALIZER],
    });
  });

  test("with --yes takes its own finalizer off, and only that", async () => {
    const cluster = await abandoned();
    const { err, out } = await cluster.run("finalizers", "clear", "--yes", "-o", "json");
    expect(err).toBe("The finalizer is off 2 Reservations.\n");
    expect(JSON.parse(out)).toMatchObject([
      { name: "mine", deleting: true, cleared: true },
      { name: "shared", deleting: false, cleared: true },
    ]);
    // What was deleted before is gone now; what was not stays, with the finalizer of somebody else.
    expect(finalizersOf(cluster)).toEqual({ free: [], shared: [OTHER] });
    const none = "No Reservation has the broker's finalizer here.\n";
    expect((await cluster.run(...CLEAR)).err).toBe(none);
  });

  test("takes it off one Reservation that was named, and reads again when somebody wrote meanwhile", async () => {
    const cluster = await abandoned();
    const conflict = { status: 409, reason: "Conflict", verb: "patch", plural: "reservations" } as const;
    cluster.cluster.faults.failNext({ times: 2, ...conflict });
    expect(await cluster.ok("finalizers", "clear", "shared", "--yes", "-o", "name")).toBe("default/shared\n");
    const mine = [RESERVATION_FINALIZER];
    expect(finalizersOf(cluster)).toEqual({ free: [], mine, shared: [OTHER] });
  });

  test("refuses while a broker works there, unless it is forced or the broker's lease has run out", async () => {
    const cluster = await abandoned();
    cluster.cluster.seed([lease(cluster.now())]);
    const refused = await cluster.run("finalizers", "clear", "--yes");
    expect(refused.code).toBe(6);
    expect(refused.err).toContain("a broker runs in namespace default (broker-1, seen");
    expect(Object.keys(finalizersOf(cluster))).toContain("mine");
    await cluster.ok(...CLEAR, "--yes", "--force");
    expect(Object.keys(finalizersOf(cluster))).not.toContain("mine");
    const other = await abandoned();
    other.cluster.seed([lease(other.now() - 60_000)]);
    expect((await other.run(...CLEAR, "--yes")).code).toBe(0);
  });
});

function definitionIn({ cluster }: OneCluster) {
  const definition = cluster.api.definitions().find(({ kind }) => kind === "Reservation");
  if (definition === undefined) throw new Error("the cluster knows no Reservation");
  return definition;
}

function deleteIt(one: OneCluster, name: string): void {
  const target = { definition: definitionIn(one), name, namespace: "default" };
  one.cluster.api.delete(target, { dryRun: false });
}

function finalizersOf(one: OneCluster): Readonly<Record<string, readonly string[]>> {
  const { items } = one.cluster.api.list({ definition: definitionIn(one) }, {});
  const all = items as unknown as { metadata: { name: string; finalizers?: string[] } }[];
  return Object.fromEntries(all.map(({ metadata }) => [metadata.name, metadata.finalizers ?? []]));
}
