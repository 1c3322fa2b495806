import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { PATH } from "@resource-broker/contract";
import { expect, onTestFinished, test } from "vitest";
import { testCertificates } from "../certificates/test-certificates.ts";
import { advertisementBody, reservationBody } from "./bodies.ts";
import { type BrokerProcess, startBroker } from "./broker-process.ts";

async function brokerWithTwoClusters(): Promise<BrokerProcess> {
  const broker = await startBroker({ certificates: await testCertificates() });
  onTestFinished(broker.dispose);
  for (const id of ["paris", "rome"]) {
    const body = advertisementBody(id, { cpu: id === "paris" ? 16 : 1, memoryGi: 64 });
    await broker.clientFor(id).request("POST", PATH.advertisements, { body });
  }
  return broker;
}

const body = reservationBody({ cpu: 2, memoryGi: 4 });

test("a broker runs in a process of its own and stops when asked", async () => {
  const broker = await brokerWithTwoClusters();
  const reply = await broker.clientFor("rome").request("POST", PATH.reservations, { body, key: "k" });
  expect(reply).toMatchObject({ status: 201, body: { targetClusterID: "paris", key: "k" } });
  expect(await broker.stop()).toBe(0);
  expect(broker.pid).toBeUndefined();
  expect(await broker.logLines()).toContainEqual(expect.stringContaining("the broker has stopped"));
});

test("a killed broker comes back on the same ports with what it had acknowledged", async () => {
  const broker = await brokerWithTwoClusters();
  const rome = broker.clientFor("rome");
  const first = await rome.request("POST", PATH.reservations, { body, key: "k" });
  expect(await broker.kill("SIGKILL")).toBeNull();
  await expect(rome.request("GET", PATH.reservations)).rejects.toBeInstanceOf(Error);
  const { readyAfterMs } = await broker.restart();
  expect(readyAfterMs).toBeGreaterThan(0);
  const again = await rome.request("POST", PATH.reservations, { body, key: "k" });
  expect(again).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" } });
  expect(again.body).toEqual(first.body);
});

test("what a client hangs up on is reserved whole or not at all", async () => {
  const broker = await brokerWithTwoClusters();
  const rome = broker.clientFor("rome");
  const midway = rome.request("POST", PATH.reservations, { body, key: "midway", hangUp: "midway" });
  await expect(midway).rejects.toThrow("hung up");
  const dropped = rome.request("POST", PATH.reservations, { body, key: "dropped", hangUp: { afterMs: 0 } });
  await expect(dropped.catch((error: Error) => error.message)).resolves.toBeDefined();
  const list = await rome.request("GET", PATH.reservations);
  expect(JSON.stringify(list.body)).not.toContain("midway");
});

test("an open stream tells the provider of a reservation", async () => {
  const broker = await brokerWithTwoClusters();
  const stream = await broker.clientFor("paris").watch();
  const { body: reservation } = await broker.clientFor("rome").request("POST", PATH.reservations, { body });
  // Capacity may be reported before.
  let event = await stream.next();
  while (event.name === "capacity") event = await stream.next();
  expect(event).toMatchObject({ name: "instruction", data: { id: (reservation as { id: string }).id } });
});

test("nothing is left behind", async () => {
  const broker = await brokerWithTwoClusters();
  const { pid } = broker;
  await broker.dispose();
  expect(existsSync(dirname(broker.storeDirectory))).toBe(false);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
});

test("a broker that cannot start says why", async () => {
  const certificates = await testCertificates();
  await expect(startBroker({ certificates, flags: ["--http-prot=1"] })).rejects.toThrow(
    "did you mean --http-port?",
  );
});
