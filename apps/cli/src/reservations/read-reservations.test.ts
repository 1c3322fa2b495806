import type { ReservationDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import type { Broker } from "../connection/broker.ts";
import { listReservations } from "./read-reservations.ts";

function reservation(id: string): ReservationDTO {
  return {
    id,
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources: { cpu: "1", memory: "1Gi" },
    status: { phase: "Reserved", message: "" },
    createdAt: "2026-01-15T12:00:00Z",
  };
}

test("a list of several pages is read to its end, in order", async () => {
  const pages = [["a", "b"], ["c", "d"], ["e"]].map((ids) => ids.map(reservation));
  const asked: string[] = [];
  const request = async ({ path }: { readonly path: string }) => {
    const page = asked.push(path);
    const link = page < pages.length ? { link: `</api/v1/reservations?after=${page}>; rel="next"` } : {};
    return { value: pages[page - 1], headers: link, at: page };
  };
  const credentials = { folder: "", name: "ops", isAdmin: true };
  const { items, at } = await listReservations({ request, credentials } as unknown as Broker);
  expect(items.map(({ id }) => id)).toEqual(["a", "b", "c", "d", "e"]);
  expect(at).toBe(3);
  expect(asked).toEqual([
    "/api/v1/reservations?limit=500",
    "/api/v1/reservations?after=1",
    "/api/v1/reservations?after=2",
  ]);
});

test("a list that does not move on is given up", async () => {
  const link = '</api/v1/reservations?after=a>; rel="next"';
  const request = async () => ({ value: [reservation("a")], headers: { link }, at: 1 });
  const broker = { request, credentials: { folder: "", name: "ops", isAdmin: true } };
  await expect(listReservations(broker as unknown as Broker)).rejects.toThrow("does not end");
});
