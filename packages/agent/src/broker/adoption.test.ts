import { type AdoptionReplyDTO, type AdoptionRequestDTO, Fault } from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import { unknownToBroker } from "../forge/unknown-to-broker.ts";
import { reservationBook } from "../reservations/reservation-book.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation, UID } from "../testing/samples.ts";
import { adoption } from "./adoption.ts";

const { id } = aReservation();

function world(answer: (offers: AdoptionRequestDTO) => AdoptionReplyDTO) {
  const log = recordedLog();
  const book = reservationBook({ clusterId: "rome", now: () => 0 });
  const offered: AdoptionRequestDTO[] = [];
  const { offer } = adoption({
    communicator: {
      adopt: async (offers) => {
        offered.push(offers);
        return answer(offers);
      },
    },
    book,
    log,
  });
  return { log, book, offered, offer };
}

const results = (outcome: AdoptionReplyDTO["results"][number]["outcome"]) => (): AdoptionReplyDTO => ({
  results: [
    {
      id,
      outcome,
      message: outcome,
      ...(outcome === "adopted" ? { reservation: aReservation({ generation: 3 }) } : {}),
    },
  ],
});

describe("an offer to a broker that has forgotten", () => {
  test("that is refused leaves the reservation held, with the broker's reason, told once", async () => {
    const { book, offer, log } = world(results("refused"));
    book.learn("requester", aReservation());
    book.markUnknown(id);
    let changes = 0;
    book.onChange(() => changes++);
    await offer();
    await offer();
    const [entry] = book.live("requester");
    expect(entry).toMatchObject({ standing: "unknown", notAdopted: "refused" });
    expect(entry && unknownToBroker(entry).message).toMatch(
      /it is kept and offered to the broker again: refused$/u,
    );
    expect({ changes, lines: log.lines.length }).toEqual({ changes: 1, lines: 1 });
    book.learn("requester", aReservation({ generation: 3 }));
    expect(book.live("requester")[0]?.notAdopted).toBeUndefined();
  });

  test("is made for what it does not know, and for nothing else", async () => {
    const { book, offered, offer } = world(results("adopted"));
    book.learn("requester", aReservation());
    await offer();
    expect(offered).toEqual([]);
    book.markUnknown(id);
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
    expect(book.live("requester")).toMatchObject([{ standing: "confirmed", reservation: { generation: 3 } }]);
  });

  test.each(["waiting", "disputed", "refused"] as const)(
    "that is %s is made again, and told of once",
    async (outcome) => {
      const { book, offered, offer, log } = world(results(outcome));
      book.learn("requester", aReservation());
      book.markUnknown(id);
      await offer();
      await offer();
      expect(offered).toHaveLength(2);
      expect(book.live("requester")).toMatchObject([{ standing: "unknown" }]);
      expect(log.lines).toHaveLength(1);
    },
  );

  test("is nothing to an older one", async () => {
    const { book, offer } = world(() => {
      throw new Fault("unsupported", "an older broker");
    });
    book.learn("requester", aReservation());
    book.markUnknown(id);
    await expect(offer()).resolves.toBeUndefined();
  });

  test("that does not arrive is a failure: somebody tries again", async () => {
    const { book, offer } = world(() => {
      throw new Fault("unreachable", "nobody answers");
    });
    book.learn("requester", aReservation());
    book.markUnknown(id);
    await expect(offer()).rejects.toThrow("nobody answers");
  });
});
