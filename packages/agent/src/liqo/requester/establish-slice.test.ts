import { describe, expect, test } from "vitest";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { type ObservedVirtualNode, planEstablish } from "./plan-establish.ts";
import { expiryPatch } from "./slice-manifest.ts";
import { ACCEPTED, aDesiredVirtualNode, aSlice, DESIRED, GOOD, plan } from "./testing/samples.ts";

describe("a reservation that comes in", () => {
  test.each<[string, Partial<ObservedVirtualNode>, object]>([
    ["asks for a slice", { slice: undefined, virtualNode: undefined }, { kind: "create-slice" }],
    [
      "asks for none while the node of an earlier one goes: somebody may be unpeering",
      { slice: undefined },
      { kind: "wait", reason: "NodeTerminating" },
    ],
    [
      "leaves a slice of others alone",
      { slice: { ...aSlice(DESIRED), metadata: { name: DESIRED.id, namespace: "liqo-tenant-calm-paris" } } },
      {
        kind: "wait",
        reason: "SliceConflict",
        isStalled: true,
        message: expect.stringContaining(
          `kubectl delete resourceslices.authentication.liqo.io -n liqo-tenant-calm-paris ${DESIRED.id}`,
        ),
      },
    ],
    [
      "leaves a slice to another provider alone",
      { slice: { ...aSlice(DESIRED), spec: { ...aSlice(DESIRED).spec, providerClusterID: "oslo" } } },
      { kind: "wait", reason: "SliceConflict" },
    ],
    [
      "waits for an earlier slice to go",
      {
        slice: {
          ...aSlice(DESIRED),
          metadata: { ...aSlice(DESIRED).metadata, deletionTimestamp: "2026-07-01T09:00:00Z" },
        },
      },
      { kind: "wait", reason: "SliceTerminating" },
    ],
    ["waits to be let in", { slice: aSlice(DESIRED) }, { kind: "wait", reason: "AwaitingAuthentication" }],
    [
      "is not let in",
      { slice: aSlice(DESIRED, { authentication: "Denied" }) },
      { kind: "wait", reason: "AuthenticationDenied", isStalled: true },
    ],
    [
      "waits for the grant",
      { slice: aSlice(DESIRED, { authentication: "Accepted" }) },
      { kind: "wait", reason: "AwaitingGrant" },
    ],
    [
      "is denied",
      { slice: aSlice(DESIRED, { authentication: "Accepted", resources: "Denied" }) },
      {
        kind: "wait",
        reason: "SliceDenied",
        isStalled: true,
        message: expect.stringContaining("NoSuchReservation"),
      },
    ],
    [
      "is content with fewer pods and less scratch space than it asked for",
      {
        slice: aSlice(DESIRED, {
          ...ACCEPTED,
          granted: { ...DESIRED.resources, pods: "50", "ephemeral-storage": "5Gi" },
        }),
      },
      { kind: "ready" },
    ],
    [
      "is granted in part",
      { slice: aSlice(DESIRED, { ...ACCEPTED, granted: { ...DESIRED.resources, cpu: "1" } }) },
      {
        kind: "wait",
        reason: "PartialGrant",
        isStalled: true,
        message: expect.stringContaining("cpu is 1 instead of 4"),
      },
    ],
    [
      "is granted in other words",
      {
        slice: aSlice(DESIRED, {
          ...ACCEPTED,
          granted: { ...DESIRED.resources, cpu: "4000m", memory: "8192Mi" },
        }),
      },
      { kind: "ready" },
    ],
  ])("%s", (_, changes, expected) => {
    expect(plan(changes)).toMatchObject(expected);
  });

  test("reports a renewal, and an end of the reservation", () => {
    const renewed = aDesiredVirtualNode({
      status: { phase: "Active", message: "", expiresAt: "2026-07-01T12:00:00Z" },
    });
    const writing = (expiresAt: string | null) => ({
      body: { metadata: { annotations: { [EXPIRES_AT_ANNOTATION]: expiresAt } } },
    });
    expect(expiryPatch(aSlice(DESIRED), renewed)).toMatchObject(writing("2026-07-01T12:00:00.000Z"));
    expect(expiryPatch(aSlice(renewed), DESIRED)).toMatchObject(writing(null));
    expect(expiryPatch(aSlice(renewed), renewed)).toBeUndefined();
    expect(planEstablish(renewed, GOOD)).toMatchObject({ kind: "ready" });
  });

  test("takes back what somebody added to its slice", () => {
    const slice = aSlice(DESIRED, ACCEPTED);
    const resources = { ...DESIRED.resources, cpu: "16", "nvidia.com/gpu": "8" };
    expect(plan({ slice: { ...slice, spec: { ...slice.spec, resources } } })).toMatchObject({
      kind: "change-slice",
      patch: { body: { spec: { resources: { cpu: "4", "nvidia.com/gpu": null } } } },
    });
  });
});
