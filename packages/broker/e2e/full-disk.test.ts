import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATH } from "@resource-broker/contract";
import { type BrokerProcess, startBroker, testCertificates, until } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";

/** Only a guard: real processes on a busy machine take their time. */
const GUARD = { timeout: 600_000 };

/** A folder for a broker whose store is on a disk of a few megabytes, where the system lets us have one. */
function brokerFolder(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "full-disk-"));
  const disk = join(directory, "store");
  mkdirSync(disk);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", disk]);
  onTestFinished(() => {
    if (status === 0) spawnSync("umount", ["-l", disk]);
    rmSync(directory, { recursive: true, force: true });
  });
  return status === 0 ? directory : undefined;
}

/** Takes every byte that is left. */
function fill(file: string): void {
  const handle = openSync(file, "a");
  try {
    for (;;) writeSync(handle, Buffer.alloc(4096));
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  } finally {
    closeSync(handle);
  }
}

async function advertise(broker: BrokerProcess, clusterId: string): Promise<number> {
  const cpu = { cpu: "1000", memory: "4000Gi" };
  const body = {
    clusterID: clusterId,
    timestamp: "2026-11-16T00:00:00Z",
    resources: { capacity: cpu, allocatable: cpu, allocated: { cpu: "0", memory: "0" }, available: cpu },
  };
  return (await broker.clientFor(clusterId).request("POST", PATH.advertisements, { body })).status;
}

async function reserve(broker: BrokerProcess, key: string): Promise<number> {
  const body = { requesterID: "rome", requestedResources: { cpu: "1", memory: "1Gi" }, duration: "1h" };
  return (await broker.clientFor("rome").request("POST", PATH.reservations, { body, key })).status;
}

async function readiness(broker: BrokerProcess): Promise<{ status: number; text: string }> {
  const answer = await fetch(`http://127.0.0.1:${broker.probePort}/readyz?verbose`);
  return { status: answer.status, text: await answer.text() };
}

async function expectReading(broker: BrokerProcess, granted: number): Promise<void> {
  const lists = await Promise.all([
    broker.clientFor("rome").request("GET", PATH.reservations),
    broker.clientFor("paris").request("GET", PATH.instructions),
    broker.admin().request("GET", PATH.advertisements),
    broker.admin().request("GET", PATH.audit),
  ]);
  expect(lists.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(lists[0]?.body).toHaveLength(granted);
}

test(
  "a broker on a full disk stays ready and answers who reads, until it can write again, also after a kill",
  GUARD,
  async ({ skip }) => {
    const directory = brokerFolder();
    if (directory === undefined) return skip("this system does not let us mount a small disk");
    const broker = await startBroker({ certificates: await testCertificates(), directory });
    onTestFinished(broker.dispose);
    for (const cluster of ["rome", "paris"]) expect(await advertise(broker, cluster)).toBe(200);
    expect(await reserve(broker, "first")).toBe(201);

    const ballast = join(broker.storeDirectory, "ballast");
    fill(ballast);
    let granted = 1;
    for (; (await reserve(broker, `fills-${granted}`)) === 201; granted++);
    await until("the broker has noticed", async () =>
      (await readiness(broker)).text.includes("[!] ledger-writes: degraded") ? true : undefined,
    );
    expect(await readiness(broker)).toMatchObject({
      status: 200,
      text: expect.stringContaining("disk is full"),
    });
    const scraped = await (await fetch(`http://127.0.0.1:${broker.metricsPort}/metrics`)).text();
    expect(scraped).toContain("\nbroker_store_available 0\n");
    expect(await reserve(broker, "refused")).toBe(503);
    await expectReading(broker, granted);

    await broker.kill("SIGKILL");
    await broker.restart();
    await expectReading(broker, granted);

    rmSync(ballast);
    expect(await advertise(broker, "paris")).toBe(200);
    await until("it can write again", async () =>
      (await reserve(broker, "later")) === 201 ? true : undefined,
    );
    expect((await readiness(broker)).text).toContain("[+] ledger-writes ok");
  },
);
