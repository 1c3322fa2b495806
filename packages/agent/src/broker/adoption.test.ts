import { Fault } from "@resource-broker/base";
import type { AdoptionReplyDTO, AdoptionRequestDTO } from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import { unknownToBrokerCondition } from "../manifests/conditions.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation, aWireReservation, UID } from "../testing/samples.ts";
import { noBroker } from "../transport/no-broker.ts";
import { brokerCommunicator } from "../transport/reservation-mapping.ts";
import { adoption } from "./adoption.ts";

const { id } = aReservation();

function world(answer: (offers: AdoptionRequestDTO) => AdoptionReplyDTO) {
  const log = recordedLog();
  const cache = reservationCache({ clusterId: "rome", now: () => 0 });
  const offered: AdoptionRequestDTO[] = [];
  const { offer } = adoption({
    communicator: brokerCommunicator({
      ...noBroker(),
      adopt: async (offers) => {
        offered.push(offers);
        return answer(offers);
      },
    }),
    cache,
    log,
  });
  return { log, cache, offered, offer };
}

const results = (outcome: AdoptionReplyDTO["results"][number]["outcome"]) => (): AdoptionReplyDTO => ({
  results: [
    {
      id,
      outcome,
      message: outcome,
      ...(outcome === "adopted" ? { reservation: aWireReservation({ generation: 3 }) } : {}),
    },
  ],
});

describe("an offer to a broker that has forgotten", () => {
  test("that is refused leaves the reservation held, with the broker's reason, told once", async () => {
    const { cache, offer, log } = world(results("refused"));
    cache.update("requester", aReservation());
    cache.markUnknown(id);
    let changes = 0;
    cache.onChange(() => changes++);
    await offer();
    await offer();
    const [entry] = cache.live("requester");
    expect(entry).toMatchObject({ syncState: "unknown", notAdopted: "refused" });
    expect(entry && unknownToBrokerCondition(entry).message).toMatch(
      /it is kept and offered to the broker again: refused$/u,
    );
    expect({ changes, lines: log.lines.length }).toEqual({ changes: 1, lines: 1 });
    cache.update("requester", aReservation({ generation: 3 }));
    expect(cache.live("requester")[0]?.notAdopted).toBeUndefined();
  });

  test("is made for what it does not know, and for nothing else", async () => {
    const { cache, offered, offer } = world(results("adopted"));
    cache.update("requester", aReservation());
    await offer();
    expect(offered).toEqual([]);
    cache.markUnknown(id);
    await offer();
    expect(offered).toEqual([
      {
        reservations: [
          {
            id,
            requesterID: "rome",
            targetClusterID: "paris",
            requestedResources: { cpu: "4", memory: "8Gi" },
            phase: "Reserved",
            generation: 1,
            createdAt: "2026-07-01T10:00:00Z",
            key: `${UID}-1`,
          },
        ],
      },
    ]);
    expect(cache.live("requester")).toMatchObject([
      { syncState: "confirmed", reservation: { generation: 3 } },
    ]);
  });

  test.each(["waiting", "disputed", "refused"] as const)(
    "that is %s is made again, and reported once",
    async (outcome) => {
      const { cache, offered, offer, log } = world(results(outcome));
      cache.update("requester", aReservation());
      cache.markUnknown(id);
      await offer();
      await offer();
      expect(offered).toHaveLength(2);
      expect(cache.live("requester")).toMatchObject([{ syncState: "unknown" }]);
      expect(log.lines).toHaveLength(1);
    },
  );

  test("is nothing to an older one", async () => {
    const { cache, offer } = world(() => {
      throw new Fault("unsupported", "an older broker");
    });
    cache.update("requester", aReservation());
    cache.markUnknown(id);
    await expect(offer()).resolves.toBeUndefined();
  });

  test("that does not arrive is a failure: somebody tries again", async () => {
    const { cache, offer } = world(() => {
      throw new Fault("unreachable", "nobody answers");
    });
    cache.update("requester", aReservation());
    cache.markUnknown(id);
    await expect(offer()).rejects.toThrow("nobody answers");
  });
});
