import { PATH, type ReservationDTO } from "@resource-broker/contract";
import { MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import { type BrokerProcess, startBroker, testCertificates } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { advertisementOf } from "../src/publish/advertisement.ts";
import type { Reservation } from "../src/reservations/reservation.ts";
import { anAdvertisementInput, OVERSIZED_INPUTS } from "../src/testing/oversized-inputs.ts";
import { fromWire } from "../src/transport/reservation-mapping.ts";

/** Only a guard: a real process on a busy machine takes its time. */
const TIMEOUT = 300_000;

let broker: BrokerProcess;
beforeAll(async () => {
  broker = await startBroker({ certificates: await testCertificates() });
}, TIMEOUT);
afterAll(() => broker.dispose());

let sequence = 0;

/** What the agent of such a cluster posts. */
function post(offer: Parameters<typeof advertisementOf>[0]) {
  const { advertisement } = advertisementOf({ ...offer, sequence: ++sequence });
  return broker.clientFor(offer.clusterId).request("POST", PATH.advertisements, { body: advertisement });
}

describe("a real broker takes the advertisement of a cluster that has", () => {
  test.each(OVERSIZED_INPUTS)("$what", { timeout: TIMEOUT }, async ({ input }) => {
    expect(await post(input)).toMatchObject({ status: 200 });
  });
});

describe("one member", () => {
  const TINY = { requestedResources: { cpu: "1m", memory: "1Mi" } };
  const reserve = (requester: string, number: number) =>
    broker.clientFor(requester).request("POST", PATH.reservations, {
      key: `key-${number}`,
      body: { ...TINY, targetClusterID: "lyon" },
    });

  test("cannot take a provider out of the candidates with many small reservations", {
    timeout: TIMEOUT,
  }, async () => {
    const lyon = anAdvertisementInput({ clusterId: "lyon" });
    await post(lyon);
    const reservations: Reservation[] = [];
    const take = async (requester: string): Promise<{ status: number; body: unknown }> => {
      for (let number = 0; ; ) {
        const reply = await reserve(requester, number);
        if (reply.status === 429) continue;
        if (reply.status !== 201) return reply;
        reservations.push(fromWire(reply.body as ReservationDTO));
        number++;
      }
    };
    expect(await take("mallory")).toMatchObject({ status: 409, body: { code: "quota-exceeded" } });
    expect(reservations).toHaveLength(MAX_RESERVATIONS_PER_PROVIDER / 2);
    expect(await take("rome")).toMatchObject({ status: 409 });
    expect(reservations).toHaveLength(MAX_RESERVATIONS_PER_PROVIDER);
    expect(await reserve("oslo", 0)).toMatchObject({
      status: 409,
      body: {
        code: "no-capacity",
        reasons: expect.arrayContaining([
          expect.objectContaining({ clusterID: "lyon", reason: "reservation-limit" }),
        ]),
      },
    });
    expect(await post({ ...lyon, reservations })).toMatchObject({
      status: 200,
      body: { advertisement: { usage: { length: MAX_RESERVATIONS_PER_PROVIDER } } },
    });
    const [first] = reservations;
    await broker.clientFor("mallory").request("DELETE", PATH.reservation(first?.id ?? ""));
    await post({ ...lyon, reservations: reservations.slice(1) });
    expect(await reserve("oslo", 1)).toMatchObject({ status: 201, body: { targetClusterID: "lyon" } });
  });
});
