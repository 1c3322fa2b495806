import { rm } from "node:fs/promises";
import { join } from "node:path";
import { PATH, type ReservationDTO, type ResourceRequest } from "@resource-broker/contract";
import { nodeMachineTime } from "@resource-broker/runtime";
import {
  brokerClient,
  type Credentials,
  type FaultyProxy,
  nodeObject,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type TestCertificates,
  testCertificates,
  until,
  type World,
  type WorldOptions,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ApiServerFaults } from "./api-server-faults.ts";
import { type ActiveRequest, askFor, untilActive } from "./resource-request.ts";

const START_TIMEOUT_MS = 180_000;
/** Above all that a row waits for in turn: servers come and go, and a busy machine is no failure. */
const ROW_TIMEOUT_MS = 120_000;
const HOUR_MS = 3_600_000;
const TO_PARIS = { targetClusterID: "paris" };
const LARGE = { cpu: "64", memory: "256Gi" };
/** A broker that was killed in the first second has lost its advertisements: the next are not far. */
const OFTEN = ["--advertisement-requeue-interval=1s"];
/** It says nothing by itself for longer than the tests take. */
const SELDOM = ["--advertisement-requeue-interval=10m"];
const QUIET_LOOKS = 20;
const SMALL = { cpu: "2", memory: "8Gi" };

/** rome and paris have agents in processes of their own; oslo and lima wait for one whose clock is wrong. */
const CLUSTERS = [
  { name: "rome", nodes: [SMALL], isBehindProxy: true, flags: SELDOM },
  { name: "paris", nodes: [LARGE], isBehindProxy: true, flags: OFTEN },
  { name: "oslo", nodes: [SMALL], hasAgent: false },
  { name: "lima", nodes: [LARGE], hasAgent: false },
];

/** Nothing is under way: a connection is free for what is asked next. */
async function untilQuiet({ bytes }: FaultyProxy): Promise<void> {
  let [sent, looks] = [-1, 0];
  await until("the line is quiet", async () => {
    looks = bytes().sent === sent ? looks + 1 : 0;
    sent = bytes().sent;
    return looks >= QUIET_LOOKS || undefined;
  });
}

export interface FaultTable {
  /** Who runs the API servers. */
  readonly where: string;
  readonly start: (options: WorldOptions) => Promise<World>;
  readonly servers: ApiServerFaults;
}

export function describeFaults({ where, start, servers }: FaultTable): void {
  describe(`whatever fails on ${where}, one request is one reservation and one pair of instructions`, {
    timeout: ROW_TIMEOUT_MS,
  }, () => {
    let certificates: TestCertificates;
    let world: World;

    beforeAll(async () => {
      certificates = await testCertificates();
      world = await start({ clusters: CLUSTERS, certificates });
      return world.dispose;
    }, START_TIMEOUT_MS);

    const rome = () => world.cluster("rome");
    const paris = () => world.cluster("paris");
    const ask = (name: string, spec: Partial<ResourceRequest["spec"]> = {}) =>
      askFor(rome(), name, { ...TO_PARIS, ...spec });
    const takeBack = (name: string) =>
      rome().client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });

    /** What the broker has for this request, whatever became of it. */
    const reservationsOf = async ({ metadata }: ResourceRequest): Promise<ReservationDTO[]> => {
      const { body } = await world.broker
        .clientFor("rome")
        .request("GET", `${PATH.reservations}?role=requester`);
      return (body as ReservationDTO[]).filter(({ key }) => key?.startsWith(metadata.uid ?? "") === true);
    };

    /** The request was granted once, and both clusters know. */
    const expectOneOfEach = async (name: string): Promise<ActiveRequest> => {
      const active = await untilActive(rome(), name);
      const { reservationName: id, request } = active;
      expect(await reservationsOf(request)).toMatchObject([{ id, targetClusterID: "paris" }]);
      await rome().until(RESERVATION_INSTRUCTIONS, id, ({ status }) => status?.delivered === true);
      await paris().until(PROVIDER_INSTRUCTIONS, `${id}-provider`, ({ status }) => status?.enforced === true);
      const same = (await rome().list(RESERVATION_INSTRUCTIONS)).filter(
        ({ metadata }) => metadata.labels?.["rear.fluidos.eu/request-uid"] === request.metadata.uid,
      );
      expect(same.map(({ metadata }) => metadata.name)).toEqual([id]);
      return active;
    };

    const isAdvertised = async (clusterId: string): Promise<true | undefined> =>
      (await world.broker.admin().request("GET", PATH.advertisement(clusterId))).status === 200 || undefined;

    test("the broker is killed after it has booked, and before its answer arrives", async () => {
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
      expect((await rome().find(RESOURCE_REQUESTS, "lost-answer"))?.status?.reservationName).toBeUndefined();
      proxy.admit();
      await expectOneOfEach("lost-answer");
      await until("paris is advertised again", () => isAdvertised("paris"));
    });

    test("the agent is killed between the broker's answer and the instruction", async () => {
      const admit = await servers.refuseWrites(rome(), RESERVATION_INSTRUCTIONS);
      const request = await ask("killed-agent");
      const { id } = await until("the broker has booked", async () => (await reservationsOf(request))[0]);
      await world.agent("rome").kill("SIGKILL");
      expect(await rome().find(RESERVATION_INSTRUCTIONS, id)).toBeUndefined();
      await admit();
      await world.agent("rome").restart();
      await expectOneOfEach("killed-agent");
    });

    test("the lender's API server is gone for a while", async () => {
      const agent = world.agent("paris");
      const failures = async (): Promise<number> =>
        Number(
          /^agent_reconcile_errors_total\{controller="holds"\} (\d+)$/m.exec(await agent.scrape())?.[1] ?? 0,
        );
      const before = await failures();
      await servers.down("paris");
      onTestFinished(() => servers.up("paris"));
      const request = await ask("nobody-home");
      await untilActive(rome(), "nobody-home");
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
      await ask("out-of-sight");
      const { reservationName: id, request } = await expectOneOfEach("out-of-sight");
      await servers.down("rome");
      onTestFinished(() => servers.up("rome"));
      await servers.remove("rome", RESOURCE_REQUESTS, { name: "out-of-sight", namespace: "default" });
      await servers.up("rome");
      await paris().untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
      await rome().untilGone(RESERVATION_INSTRUCTIONS, id);
      expect(await reservationsOf(request)).toMatchObject([
        { status: { phase: "Released" }, reason: "ReleasedByRequester" },
      ]);
    });

    test("a certificate is rotated, and the old one revoked", async () => {
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

    test("the clocks of both agents are an hour off", async () => {
      const shifted = (ms: number) => ({
        machine: nodeMachineTime(() => Math.round(performance.timeOrigin + performance.now()) + ms),
      });
      const [oslo, lima] = [world.cluster("oslo"), world.cluster("lima")];
      const agents = await Promise.all([
        world.startInside("oslo", shifted(HOUR_MS)),
        world.startInside("lima", shifted(-HOUR_MS)),
      ]);
      await until("lima is advertised", () => isAdvertised("lima"));
      await askFor(oslo, "half-an-hour", { targetClusterID: "lima", duration: "30m" });
      const { reservationName: id, request } = await untilActive(oslo, "half-an-hour");
      const lastsMs =
        Date.parse(request.status?.expiresAt ?? "") - Date.parse(request.status?.reservedAt ?? "");
      expect(lastsMs).toBe(HOUR_MS / 2);
      // By the clocks of their machines it is long over, or has not begun: looked at again, it is still kept.
      for (const [cluster, resource, name] of [
        [oslo, RESERVATION_INSTRUCTIONS, id],
        [lima, PROVIDER_INSTRUCTIONS, `${id}-provider`],
      ] as const) {
        const { metadata } = await cluster.until<{ readonly metadata: ResourceRequest["metadata"] }>(
          resource,
          name,
        );
        await cluster.client.delete(resource, { name, namespace: "default" });
        await cluster.until<{ readonly metadata: ResourceRequest["metadata"] }>(
          resource,
          name,
          (now) => now.metadata.uid !== metadata.uid,
        );
      }
      await askFor(oslo, "a-moment", { targetClusterID: "lima", duration: "1s" });
      const short = await oslo.until(
        RESOURCE_REQUESTS,
        "a-moment",
        ({ status }) => status?.phase === "Released",
      );
      expect(short.status).toMatchObject({ reason: "Expired" });
      await lima.untilGone(PROVIDER_INSTRUCTIONS, `${short.status?.reservationName}-provider`);
      for (const agent of agents) await agent.stop();
    });

    const malformed = [
      { name: "letters for CPU", spec: { requestedCPU: "abc" }, says: /spec\.requestedCPU.*quantity/ },
      {
        name: "less than nothing",
        spec: { requestedCPU: "-1" },
        says: /spec\.requestedCPU.*(more than 0|positive)/,
      },
      {
        name: "a duration in words",
        spec: { duration: "5 minutes" },
        says: /spec\.duration.*must be a duration/,
      },
    ];

    test.each(malformed)(
      "the API server refuses $name with a message that can be read",
      async ({ spec, says }) => {
        await expect(ask("malformed", spec)).rejects.toThrow(says);
        expect(await rome().find(RESOURCE_REQUESTS, "malformed")).toBeUndefined();
      },
    );

    test("what nobody has is refused with a reason for each cluster", async () => {
      await askFor(rome(), "too-much", { requestedCPU: "1000" });
      const { status } = await rome().until(
        RESOURCE_REQUESTS,
        "too-much",
        (each) => each.status?.phase === "Failed",
      );
      expect(status).toMatchObject({ reason: "NoCapacity", message: expect.stringContaining("1000 CPU") });
      const lines = (status?.explanation ?? "").split("\n");
      expect(lines).toContainEqual(expect.stringMatching(/^paris: needs \d+ more CPU/));
      expect(lines).toContainEqual(expect.stringMatching(/^rome: is the requester itself/));
    });

    test("a queued request waits, and is granted when capacity is freed", async () => {
      await ask("first", { requestedCPU: "40" });
      await expectOneOfEach("first");
      await ask("second", { requestedCPU: "40", queue: true });
      const waiting = await rome().until(RESOURCE_REQUESTS, "second", ({ status }) => status?.attempts === 1);
      expect(waiting.status).toMatchObject({
        phase: "Pending",
        explanation: expect.stringMatching(/^paris: needs \d+ more CPU/m),
        nextAttemptTime: expect.any(String),
      });
      await takeBack("first");
      const { request } = await expectOneOfEach("second");
      expect(request.status?.attempts).toBeGreaterThan(1);
      await takeBack("second");
    });

    test("the broker comes back with an empty database", async () => {
      await ask("remembered");
      const { reservationName: id } = await expectOneOfEach("remembered");
      const uids = async () => ({
        borrowed: (await rome().find(RESERVATION_INSTRUCTIONS, id))?.metadata.uid,
        held: (await paris().find(PROVIDER_INSTRUCTIONS, `${id}-provider`))?.metadata.uid,
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
      await paris().until(
        PROVIDER_INSTRUCTIONS,
        `${id}-provider`,
        ({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === "UnknownToBroker" && is === "False") ===
          true,
      );
      await takeBack("remembered");
      await paris().untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
    });
  });
}
