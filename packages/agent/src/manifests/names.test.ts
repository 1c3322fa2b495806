import { clusterAdvertisementName } from "@resource-broker/contract/crd";
import { reservationId } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { RESERVATION_LABEL, tenantNamespaceOf } from "../liqo/objects.ts";
import { creatorUserOf, sliceOf } from "../liqo/provider/liqo-informers.ts";
import { markerManifest, markerName, readMarker } from "../liqo/requester/peering-marker.ts";
import { sliceManifest } from "../liqo/requester/desired-virtual-node.ts";
import { aDesiredVirtualNode } from "../liqo/requester/testing/samples.ts";
import { aReservation } from "../testing/samples.ts";
import { providerInstruction, reservationInstruction } from "./instructions.ts";
import { RESERVATION_ANNOTATION } from "./labels.ts";

const LONGEST_CLUSTER = "c".repeat(63);
const LONGEST_LIQO_ID = "l".repeat(63);
/** What Kubernetes takes as the value of a label, and Liqo as the name of a slice with a hash behind. */
const [LABEL, SLICE] = [63, 50];
/** What Kubernetes takes as the name of most objects. */
const NAME = 253;

/** Two ids of the broker's longest, which differ in their last character only. */
const digest = new Uint8Array(32);
const neighbour = digest.with(9, 1);
const LONGEST = [reservationId(LONGEST_CLUSTER, digest), reservationId(LONGEST_CLUSTER, neighbour)] as const;

const markerOf = (claim: string) =>
  markerManifest("liqo", { liqoId: "calm-paris", clusterId: "paris" }, [claim]);

describe("a name that is made of a reservation's", () => {
  test("is tried with the longest there are, alike but for their ends", () => {
    expect(LONGEST.map(({ length }) => length)).toEqual([41, 41]);
    expect(LONGEST[0].slice(0, 40)).toBe(LONGEST[1].slice(0, 40));
  });

  test.each<[string, number, (id: string) => string | undefined]>([
    ["slice", SLICE, (id) => sliceManifest(aDesiredVirtualNode({ id })).metadata.name],
    [
      "slice's label",
      LABEL,
      (id) => sliceManifest(aDesiredVirtualNode({ id })).metadata.labels?.[RESERVATION_LABEL],
    ],
    ["creator of a slice's pods", LABEL, (id) => creatorUserOf(id, LONGEST_LIQO_ID)],
    ["slice of that creator", SLICE, (id) => sliceOf(creatorUserOf(id, LONGEST_LIQO_ID))],
    [
      "ReservationInstruction",
      NAME,
      (id) => reservationInstruction(aReservation({ id }), "default").metadata.name,
    ],
    ["ProviderInstruction", NAME, (id) => providerInstruction(aReservation({ id }), "default").metadata.name],
    [
      "ProviderInstruction's annotation",
      NAME * 100,
      (id) =>
        providerInstruction(aReservation({ id }), "default").metadata.annotations?.[RESERVATION_ANNOTATION],
    ],
    ["claim to a peering", NAME, (id) => readMarker(markerOf(id))?.claims[0]],
  ])("is whole, and no other's: the %s", (_, maxLength, nameOf) => {
    const names = LONGEST.map((id) => nameOf(id) ?? "");
    for (const [index, id] of LONGEST.entries()) expect(names[index]).toContain(id);
    expect(names[0]).not.toBe(names[1]);
    for (const { length } of names) expect(length).toBeLessThanOrEqual(maxLength);
  });

  test("of the longest that Liqo can use fits its labels", () => {
    const [first, second] = [`${"x".repeat(SLICE - 1)}a`, `${"x".repeat(SLICE - 1)}b`];
    for (const id of [first, second]) {
      expect(sliceManifest(aDesiredVirtualNode({ id })).metadata.name).toBe(id);
      expect(creatorUserOf(id, LONGEST_LIQO_ID)).toHaveLength(LABEL);
      expect(sliceOf(creatorUserOf(id, LONGEST_LIQO_ID))).toBe(id);
    }
  });
});

describe("a name that is made of a cluster's", () => {
  test.each<[string, (id: string) => string]>([
    ["ClusterAdvertisement", clusterAdvertisementName],
    ["peering's mark", markerName],
    ["namespace of Liqo's", tenantNamespaceOf],
  ])("is whole, and no other's: the %s", (_, nameOf) => {
    const ids = ["a", "b"].map((end) => `${"c".repeat(62)}${end}`);
    const names = ids.map(nameOf);
    for (const [index, id] of ids.entries()) expect(names[index]).toContain(id);
    for (const { length } of names) expect(length).toBeLessThanOrEqual(NAME);
  });
});
