import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  clusterAdvertisementKind,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeClient, NAMESPACES } from "@resource-broker/kube";
import { memoryDisk, memoryStore, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createBroker } from "./app.ts";
import { RESERVATIONS } from "./interface/kubernetes/objects/object-informers.ts";
import { openEnvironment, type TestEnvironment } from "./interface/kubernetes/testing/environment.ts";
import { NAMESPACE } from "./interface/kubernetes/testing/samples.ts";
import { readBrokerSettings } from "./settings/read-settings.ts";

const file = new URL("../../contract/golden/go-broker-objects.json", import.meta.url);
const { items } = JSON.parse(readFileSync(file, "utf8")) as { items: Reservation[] };
const left = items.filter(({ kind }) => kind !== clusterAdvertisementKind.kind);
const live = left.filter(({ status }) => status?.phase === "Reserved");
const endless = recorded(live.find(({ status }) => status?.expiresAt === undefined));
const [first, second] = [recorded(live[0]), recorded(live[1])];

function recorded(reservation: Reservation | undefined): Reservation {
  if (reservation === undefined) throw new Error("some were recorded");
  return reservation;
}

/** While the Go broker's last reservations lived. */
const RECORDED_AT = Date.parse("2026-11-16T02:20:00Z");
const HOUR_MS = 3_600_000;
const DEFINITION = `${reservationKind.plural}.${reservationKind.group}`;

let env: TestEnvironment;
beforeEach(async () => {
  env = await openEnvironment();
  env.time.jumpWall(RECORDED_AT - env.time.wallMs());
  return env.stop;
});

/** As the Go broker, or somebody else, left it there. */
async function leave({ metadata, spec, status, ...kind }: Reservation): Promise<Reservation> {
  const { name, labels = {}, finalizers = [] } = metadata;
  const made = await env.client.create(RESERVATIONS, {
    ...kind,
    metadata: { name, labels, finalizers, namespace: NAMESPACE },
    spec,
  });
  if (status === undefined) return made;
  return env.client.update(RESERVATIONS, { ...made, status }, { subresource: "status" });
}

const isOrphaned = ({ status }: Reservation): boolean =>
  status?.conditions?.some(({ type }) => type === RESERVATION_CONDITION.orphaned) === true;

describe("a new ledger where the Go broker has worked", () => {
  test("takes its live reservations over, each counted once, and writes that down", async () => {
    for (const each of left) await leave(each);
    const disk = memoryDisk();
    const { engine, stop } = await env.startBroker({ disk, imports: true });
    const { reservations, accounts } = engine.ledger;
    expect([...reservations.keys()].sort()).toEqual(live.map(({ metadata }) => metadata.name).sort());
    const lent = ["paris", "gparis", "rome", "grome"].map((id) => accounts.get(id)?.reserved.cpuMillis);
    expect(lent).toEqual([3000, 4000, 2000, 2000]);
    expect(reservations.get("rsv-grome-1794795483192")).toMatchObject({
      requester: "grome",
      provider: "paris",
      phase: "Reserved",
      reservedAt: Date.parse("2026-11-16T02:18:03Z"),
      expiresAt: Date.parse("2026-11-16T02:58:03Z"),
    });
    expect(reservations.get("rsv-rome-1794795484757")?.expiresAt).toBeUndefined();
    await stop();
    const store = memoryStore(disk);
    await store.open();
    const audit = await store.readAudit({ after: 0, limit: 100 });
    const taken = audit.filter(({ action }) => action === "import");
    expect(taken.map(({ by, subject }) => `${by} ${subject}`).sort()).toEqual(
      live.map(({ metadata }) => `broker ${metadata.name}`).sort(),
    );
  });

  test.each([{ objects: true }, { objects: false }])(
    "shows them as they are, none as orphaned, and follows them to their end (objects: $objects)",
    async (options) => {
      for (const each of left) await leave(each);
      await env.startBroker({ imports: true, options: { ...options, views: true } });
      for (const { metadata, spec } of live) {
        const shown = await env.reservation(
          metadata.name,
          ({ status }) => status?.reservationID === metadata.name,
        );
        expect(isOrphaned(shown)).toBe(false);
        expect(shown.metadata.labels?.[KUBE_LABEL.view]).toBe("true");
        expect(shown).toMatchObject({
          spec: { requesterID: spec.requesterID, targetClusterID: spec.targetClusterID },
          status: { phase: "Reserved" },
        });
      }
      await env.time.advance(HOUR_MS);
      for (const { metadata, status } of live) {
        const phase = status?.expiresAt === undefined ? "Reserved" : "Released";
        await env.reservation(metadata.name, (object) => object.status?.phase === phase);
      }
      expect(env.logged.filter((line) => line.includes("Orphaned"))).toEqual([]);
    },
  );

  test("ends at once what ended while no broker ran", async () => {
    for (const each of live) await leave(each);
    env.time.jumpWall(HOUR_MS);
    const { engine } = await env.startBroker({ imports: true });
    const held = await env.until("only one lives", async () => {
      const all = [...engine.ledger.reservations.values()].filter(({ phase }) => phase === "Reserved");
      return all.length === 1 ? all[0] : undefined;
    });
    expect(held.id).toBe(endless.metadata.name);
  });

  test("does so once", async () => {
    await leave(first);
    const disk = memoryDisk();
    const before = await env.startBroker({ disk, imports: true });
    await before.stop();
    await leave(second);
    const { engine } = await env.startBroker({ disk, imports: true });
    expect([...engine.ledger.reservations.keys()]).toEqual([first.metadata.name]);
  });

  test("takes over one that is in use", async () => {
    await leave({ ...first, status: { ...first.status, phase: "Active" } });
    const { engine } = await env.startBroker({ imports: true });
    expect(engine.ledger.reservations.get(first.metadata.name)?.phase).toBe("Active");
  });

  test.each([{ objects: true }, { objects: false }])(
    "ends at once one that was deleted while no broker ran, and lets its object go (objects: $objects)",
    async (options) => {
      const { name } = endless.metadata;
      const { metadata } = await leave(endless);
      await env.client.delete(RESERVATIONS, { name, namespace: NAMESPACE });
      const { deletionTimestamp = "" } = (await env.reservation(name)).metadata;
      env.time.jumpWall(Date.parse(deletionTimestamp) + HOUR_MS - env.time.wallMs());
      const { engine } = await env.startBroker({ imports: true, options: { ...options, views: true } });
      const shown = await env.reservation(name, ({ status }) => status?.phase === "Released");
      expect(shown.metadata.uid).not.toBe(metadata.uid);
      expect(engine.ledger.accounts.get(endless.spec.targetClusterID ?? "")?.reserved.cpuMillis ?? 0).toBe(0);
    },
  );

  test.each([
    { what: "namespace", end: () => env.client.delete(NAMESPACES, { name: NAMESPACE }) },
    { what: "definition", end: () => env.client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: DEFINITION }) },
  ])("does not end what is deleted only because its $what is", async ({ end }) => {
    const { name } = endless.metadata;
    await leave(endless);
    await end();
    await env.reservation(name, ({ metadata }) => metadata.deletionTimestamp !== undefined);
    const { engine } = await env.startBroker({ imports: true, options: { objects: false } });
    expect(engine.ledger.reservations.get(name)).toMatchObject({ phase: "Reserved" });
    expect(engine.ledger.reservations.get(name)?.expiresAt).toBeUndefined();
  });

  test.each([
    { name: "one that waits for an answer", status: undefined },
    { name: "one that has ended", status: { phase: "Released" } },
    { name: "one of another ledger", status: { phase: "Reserved", ledgerID: "led-1" } },
    { name: "a view", status: { phase: "Reserved" }, labels: { [KUBE_LABEL.view]: "true" } },
  ] as const)("leaves alone $name", async ({ name: _name, status, ...more }) => {
    const { status: _, metadata, ...rest } = first;
    const object = { ...rest, metadata: { ...metadata, ...more } };
    await leave(status === undefined ? object : { ...object, status });
    const { engine } = await env.startBroker({ imports: true, options: { objects: false } });
    expect(engine.ledger.reservations.size).toBe(0);
  });

  test.each([
    { change: { targetClusterID: undefined }, says: "targetClusterID: is missing" },
    {
      change: { requestedResources: { cpu: "9e15", memory: "1Gi" } },
      says: 'requestedResources.cpu: "9e15"',
    },
  ])("does not begin when one of them makes no sense ($says): it would lend that again", async (row) => {
    const spec = JSON.parse(JSON.stringify({ ...first.spec, ...row.change })) as Reservation["spec"];
    await leave({ ...first, spec });
    const starting = env.startBroker({ imports: true });
    await expect(starting).rejects.toThrow(`${first.metadata.name}: `);
    await expect(starting).rejects.toThrow(row.says);
  });

  test("does not begin while they cannot be read: it would lend them again", async () => {
    const away: KubeClient = {
      ...env.client,
      list: () => Promise.reject(new Error("the server is away")),
    };
    await expect(env.startBroker({ imports: true, client: away })).rejects.toThrow(
      "--import-reservations=off",
    );
  });
});

test("a whole broker that is given a kubeconfig does not start before it has read them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "import-reservations-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { cluster } = env;
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig);
  await writeCertificateFolder(join(folder, "certs"), (await testCertificates()).broker);
  const reading = await readBrokerSettings({
    argv: [
      `--kubeconfig=${kubeconfig}`,
      "--views=off",
      `--http-namespace=${NAMESPACE}`,
      `--store=sqlite:${join(folder, "store")}`,
      `--http-cert-path=${join(folder, "certs")}`,
      "--http-host=127.0.0.1",
      "--http-port=0",
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
    ],
    env: {},
    readFile: () => Promise.reject(new Error("there is none")),
  });
  if (!reading.ok) throw new Error(reading.problems.join());
  const broker = createBroker(reading.settings, {
    clock: env.time,
    defer: setImmediate,
    randomBytes,
    random: () => 0.5,
    env: {},
    readYaml: () => Promise.reject(new Error("there is none")),
    openApi: "{}",
    version: "0",
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onFatal: () => undefined,
  });
  onTestFinished(broker.stop);
  cluster.faults.failNext({ times: 1, status: 403, verb: "list", plural: "reservations" });
  await expect(broker.start()).rejects.toThrow("--import-reservations=off");
});
