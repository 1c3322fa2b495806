import { rm } from "node:fs/promises";
import { join } from "node:path";
import { PATH, type ReservationDTO } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import {
  brokerClient,
  controlPlaneAssets,
  type Credentials,
  type FaultyProxy,
  nodeObject,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  realControlPlanes,
  startWorld,
  type TestCertificates,
  testCertificates,
  until,
  type World,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ActiveRequest, askFor, untilActive } from "../testing/resource-request.ts";
import { type ApiServerFaults, realFaults } from "./testing/real-faults.ts";

const START_TIMEOUT_MS = 600_000;
/** Above all that a row waits for in turn: servers come and go, and a busy machine is no failure. */
const ROW_TIMEOUT_MS = 120_000;
const LARGE = { cpu: "64", memory: "256Gi" };
/** A broker that was killed in the first second has lost its advertisements: the next are not far. */
const SHORT_INTERVAL = ["--advertisement-requeue-interval=1s"];
/** It says nothing by itself for longer than the tests take. */
const LONG_INTERVAL = ["--advertisement-requeue-interval=10m"];
const SMALL = { cpu: "2", memory: "8Gi" };

const CLUSTERS = [
  { name: "rome", nodes: [SMALL], isBehindProxy: true, flags: LONG_INTERVAL },
  { name: "paris", nodes: [LARGE], isBehindProxy: true, flags: SHORT_INTERVAL },
];

const controlPlanes = realControlPlanes();

describe.skipIf(!controlPlaneAssets().isThere)(
  "whatever fails around real API servers, one request is one reservation and one pair of instructions",
  { timeout: ROW_TIMEOUT_MS },
  () => {
    let setup: FaultSetup;
    const current = (): FaultSetup => setup;

    beforeAll(async () => {
      const certificates = await testCertificates();
      const world = await startWorld({ clusters: CLUSTERS, certificates, controlPlanes });
      setup = faultSetup({ world, certificates, servers: realFaults(controlPlanes) });
      return world.dispose;
    }, START_TIMEOUT_MS);

    // All in one world, one after the other: the last ones find what the first ones have left.
    testKilledProcesses(current);
    testAbsentApiServers(current);
    testRotatedCertificates(current);
    testLostLedger(current);
  },
);

const QUIET_LOOKS = 20;

/** Nothing is under way: a connection is free for what is asked next. */
async function untilQuiet({ bytes }: FaultyProxy): Promise<void> {
  let [sent, looks] = [-1, 0];
  await until("the line is quiet", async () => {
    looks = bytes().sent === sent ? looks + 1 : 0;
    sent = bytes().sent;
    return looks >= QUIET_LOOKS || undefined;
  });
}

/** Somebody is killed halfway. */
function testKilledProcesses(setup: () => FaultSetup): void {
  test("the broker is killed after it has reserved, and before its answer arrives", async () => {
    const { world, rome, ask, reservationsOf, expectOneOfEach, isAdvertised } = setup();
    const proxy = world.proxy("rome");
    onTestFinished(proxy.admit);
    await untilQuiet(proxy);
    proxy.holdReplies();
    const request = await ask("lost-answer");
    await until("the broker has booked", async () => (await reservationsOf(request))[0]);
    proxy.refuse();
    proxy.cut();
    proxy.resume();
    await world.broker.kill("SIGKILL");
    await world.broker.restart();
    expect(await reservationsOf(request)).toHaveLength(1);
    expect((await rome.find(RESOURCE_REQUESTS, "lost-answer"))?.status?.reservationName).toBeUndefined();
    proxy.admit();
    await expectOneOfEach("lost-answer");
    await until("paris is advertised again", () => isAdvertised("paris"));
  });

  test("the agent is killed between the broker's answer and the instruction", async () => {
    const { world, servers, rome, ask, reservationsOf, expectOneOfEach } = setup();
    const admit = await servers.refuseWrites(rome, RESERVATION_INSTRUCTIONS);
    const request = await ask("killed-agent");
    const { id } = await until("the broker has booked", async () => (await reservationsOf(request))[0]);
    await world.agent("rome").kill("SIGKILL");
    expect(await rome.find(RESERVATION_INSTRUCTIONS, id)).toBeUndefined();
    await admit();
    await world.agent("rome").restart();
    await expectOneOfEach("killed-agent");
  });
}

/** A cluster cannot be reached, and changes meanwhile. */
function testAbsentApiServers(setup: () => FaultSetup): void {
  test("the provider's API server is gone for a while", async () => {
    const { world, servers, rome, ask, reservationsOf, expectOneOfEach } = setup();
    const agent = world.agent("paris");
    const failures = async (): Promise<number> =>
      Number(
        /^agent_reconcile_errors_total\{controller="holds"\} (\d+)$/m.exec(await agent.scrape())?.[1] ?? 0,
      );
    const before = await failures();
    await servers.down("paris");
    onTestFinished(() => servers.up("paris"));
    const request = await ask("nobody-home");
    await untilActive(rome, "nobody-home");
    await until(
      "the agent has tried several times",
      async () => (await failures()) >= before + 5 || undefined,
    );
    expect(await agent.readiness()).toMatch(/^\[-\] cluster: .*cannot be reached/m);
    await servers.put("paris", nodeObject("paris-later", { cpu: "8", memory: "32Gi" }));
    await servers.up("paris");
    await expectOneOfEach("nobody-home");
    await until("the node that came meanwhile is advertised", async () => {
      const { body } = await world.broker.admin().request("GET", PATH.advertisement("paris"));
      return (
        (body as { resources: { allocatable: { cpu: string } } }).resources.allocatable.cpu === "72" ||
        undefined
      );
    });
    expect(await reservationsOf(request)).toHaveLength(1);
  });

  test("a request is deleted while its agent cannot see it", async () => {
    const { servers, rome, paris, ask, reservationsOf, expectOneOfEach } = setup();
    await ask("out-of-sight");
    const { reservationName: id, request } = await expectOneOfEach("out-of-sight");
    await servers.down("rome");
    onTestFinished(() => servers.up("rome"));
    await servers.remove("rome", RESOURCE_REQUESTS, { name: "out-of-sight", namespace: "default" });
    await servers.up("rome");
    await paris.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
    await rome.untilGone(RESERVATION_INSTRUCTIONS, id);
    expect(await reservationsOf(request)).toMatchObject([
      { status: { phase: "Released" }, reason: "ReleasedByRequester" },
    ]);
  });
}

/** Nobody starts anew for a certificate. */
function testRotatedCertificates(setup: () => FaultSetup): void {
  test("a certificate is rotated, and the old one revoked", async () => {
    const { world, certificates, ask, expectOneOfEach } = setup();
    const { certificateFolder } = world.agent("rome");
    const [old, renewed] = [certificates.cluster("rome"), certificates.cluster("rome")];
    const renew = async (to: Credentials): Promise<void> => {
      const { made } = world.proxy("rome").connections();
      await writeCertificateFolder(certificateFolder, to);
      await until(
        "the agent has connected anew",
        async () => world.proxy("rome").connections().made > made || undefined,
      );
    };
    await renew(old);
    await renew(renewed);
    const folder = join(world.directory, "broker", "certificates");
    await writeCertificateFolder(folder, { ...certificates.broker, crl: certificates.crl([old]) });
    const { port } = world.broker;
    await until("the broker refuses the old one", async () => {
      const client = brokerClient({ clusterId: "rome", credentials: old, port });
      const status = await client.request("GET", PATH.reservations).then(
        (reply) => reply.status,
        () => 0,
      );
      client.close();
      return status === 200 ? undefined : true;
    });
    await ask("rotated");
    await expectOneOfEach("rotated");
  });
}

/** The broker forgets, and the agents remember. */
function testLostLedger(setup: () => FaultSetup): void {
  test("the broker comes back with an empty database", async () => {
    const { world, rome, paris, ask, deleteRequest, expectOneOfEach } = setup();
    await ask("remembered");
    const { reservationName: id } = await expectOneOfEach("remembered");
    const uids = async () => ({
      borrowed: (await rome.find(RESERVATION_INSTRUCTIONS, id))?.metadata.uid,
      held: (await paris.find(PROVIDER_INSTRUCTIONS, `${id}-provider`))?.metadata.uid,
    });
    const before = await uids();
    await world.broker.stop();
    await rm(world.broker.storeDirectory, { recursive: true });
    await world.broker.restart();
    const restored = await until("both have brought it back", async () => {
      const { body } = await world.broker.clientFor("rome").request("GET", PATH.reservation(id));
      return (body as Partial<ReservationDTO>).id === id ? (body as ReservationDTO) : undefined;
    });
    expect(restored).toMatchObject({ targetClusterID: "paris", status: { phase: "Active" } });
    expect(await uids()).toEqual(before);
    await paris.until(
      PROVIDER_INSTRUCTIONS,
      `${id}-provider`,
      ({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "UnknownToBroker" && is === "False") ===
        true,
    );
    await deleteRequest("remembered");
    await paris.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
  });
}

const TO_PARIS = { targetClusterID: "paris" };

interface FaultSetupParts {
  readonly world: World;
  readonly certificates: TestCertificates;
  readonly servers: ApiServerFaults;
}

type FaultSetup = ReturnType<typeof faultSetup>;

/** A world in which rome borrows from paris, whatever fails. */
function faultSetup({ world, certificates, servers }: FaultSetupParts) {
  const [rome, paris] = [world.cluster("rome"), world.cluster("paris")];

  /** What the broker has for this request, whatever became of it. */
  const reservationsOf = async ({ metadata }: ResourceRequest): Promise<ReservationDTO[]> => {
    const { body } = await world.broker
      .clientFor("rome")
      .request("GET", `${PATH.reservations}?role=requester`);
    return (body as ReservationDTO[]).filter(({ key }) => key?.startsWith(metadata.uid ?? "") === true);
  };

  /** The request was granted once, and both clusters know. */
  const expectOneOfEach = async (name: string): Promise<ActiveRequest> => {
    const active = await untilActive(rome, name);
    const { reservationName: id, request } = active;
    expect(await reservationsOf(request)).toMatchObject([{ id, targetClusterID: "paris" }]);
    await rome.until(RESERVATION_INSTRUCTIONS, id, ({ status }) => status?.delivered === true);
    await paris.until(PROVIDER_INSTRUCTIONS, `${id}-provider`, ({ status }) => status?.enforced === true);
    const same = (await rome.list(RESERVATION_INSTRUCTIONS)).filter(
      ({ metadata }) => metadata.labels?.["rear.fluidos.eu/request-uid"] === request.metadata.uid,
    );
    expect(same.map(({ metadata }) => metadata.name)).toEqual([id]);
    return active;
  };

  return {
    world,
    certificates,
    servers,
    rome,
    paris,
    /** rome asks for something of paris. */
    ask: (name: string, spec: Partial<ResourceRequest["spec"]> = {}) =>
      askFor(rome, name, { ...TO_PARIS, ...spec }),
    deleteRequest: (name: string) => rome.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" }),
    reservationsOf,
    expectOneOfEach,
    isAdvertised: async (clusterId: string): Promise<true | undefined> =>
      (await world.broker.admin().request("GET", PATH.advertisement(clusterId))).status === 200 || undefined,
  };
}
