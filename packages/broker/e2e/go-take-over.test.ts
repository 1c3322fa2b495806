import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATH } from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import {
  advertisementBody,
  type BrokerProcess,
  reservationBody,
  simulatedControlPlanes,
  startBroker,
  testCertificates,
  until,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { brokerDefinitions } from "../src/store/kubernetes/testing/test-ledger.ts";

/** Only a guard: real processes on a busy machine take their time. */
const TIMEOUT_MS = 300_000;
const file = new URL("../../contract/golden/go-broker-objects.json", import.meta.url);

/** The recorded objects, as if the live ones still had their time before them. */
function recorded(): Reservation[] {
  const text = readFileSync(file, "utf8").replaceAll(
    '"expiresAt": "2026-11-16T02:58',
    '"expiresAt": "2099-11-16T02:58',
  );
  return (JSON.parse(text) as { items: Reservation[] }).items;
}

/** The cluster that a Go broker has worked in. */
async function goCluster(): Promise<string> {
  const planes = simulatedControlPlanes();
  onTestFinished(planes.stop);
  const objects = recorded().map(({ metadata, ...object }) => {
    const { name, namespace, finalizers = [] } = metadata;
    const kept = { ...object, metadata: { name, namespace, finalizers } };
    return JSON.parse(JSON.stringify(kept)) as ReturnType<typeof brokerDefinitions>[number];
  });
  const { kubeconfig } = await planes.start("hub", [...brokerDefinitions(), ...objects]);
  const folder = await mkdtemp(join(tmpdir(), "go-take-over-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "kubeconfig");
  await writeFile(path, kubeconfig, { mode: 0o600 });
  return path;
}

async function ids(broker: BrokerProcess): Promise<string[]> {
  // A replica that has just begun may have to make sure that it leads before it answers.
  const body = await until("the reservations are listed", async () => {
    const reply = await broker.admin().request("GET", PATH.reservations);
    return reply.status === 200 ? reply.body : undefined;
  });
  return (body as { id: string; status: { phase: string } }[])
    .filter(({ status }) => status.phase === "Reserved")
    .map(({ id }) => id)
    .sort();
}

const live = recorded()
  .filter(({ kind, status }) => kind === "Reservation" && status?.phase === "Reserved")
  .map(({ metadata }) => metadata.name)
  .sort();

test.each([
  { store: "sqlite", views: "off" },
  { store: "kubernetes", views: "auto" },
])(
  "a broker with the store $store and views $views takes a Go broker's reservations over, and lends none of it again",
  async ({ store, views }) => {
    const kubeconfig = await goCluster();
    const certificates = await testCertificates();
    const broker = await startBroker({
      certificates,
      flags: [`--kubeconfig=${kubeconfig}`, `--views=${views}`],
      ...(store === "sqlite" ? {} : { store }),
    });
    onTestFinished(broker.dispose);
    expect(await ids(broker)).toEqual(live);

    const size = { cpu: 16, memoryGi: 64 };
    const paris = broker.clientFor("paris");
    await paris.request("POST", PATH.advertisements, { body: advertisementBody("paris", size) });
    const ask = (cpu: number) =>
      broker
        .clientFor("oslo")
        .request("POST", PATH.reservations, { body: reservationBody({ cpu, memoryGi: 1 }) });
    // paris lends 2 and 1 CPU already; the Go broker had counted them, and some that had ended, as 9.
    expect((await ask(14)).status).toBe(409);
    expect((await ask(13)).status).toBe(201);
    const before = await ids(broker);
    await broker.kill("SIGKILL");
    await broker.restart();
    expect(await ids(broker)).toEqual(before);
  },
  TIMEOUT_MS,
);

test(
  "it begins without them where it is told to",
  async () => {
    const flags = [`--kubeconfig=${await goCluster()}`, "--import-reservations=off"];
    const broker = await startBroker({ certificates: await testCertificates(), flags });
    onTestFinished(broker.dispose);
    expect(await ids(broker)).toEqual([]);
  },
  TIMEOUT_MS,
);
