import { describe, expect, test } from "vitest";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { expiryChange } from "./forge-slice.ts";
import { type LoanSight, planEstablish } from "./plan-establish.ts";
import { ACCEPTED, GOOD, plan, WISH } from "./testing/loan-sights.ts";
import { aSlice, aWish } from "./testing/samples.ts";

describe("a loan that comes in", () => {
  test.each<[string, Partial<LoanSight>, object]>([
    ["asks for a slice", { slice: undefined, virtualNode: undefined }, { kind: "create-slice" }],
    [
      "asks for none while the node of an earlier one goes: somebody may be unpeering",
      { slice: undefined },
      { kind: "wait", reason: "NodeTerminating" },
    ],
    [
      "leaves a slice of others alone",
      { slice: { ...aSlice(WISH), metadata: { name: WISH.id, namespace: "liqo-tenant-calm-paris" } } },
      {
        kind: "wait",
        reason: "SliceConflict",
        isTrouble: true,
        message: expect.stringContaining(
          `kubectl delete resourceslices.authentication.liqo.io -n liqo-tenant-calm-paris ${WISH.id}`,
        ),
      },
    ],
    [
      "leaves a slice to another provider alone",
      { slice: { ...aSlice(WISH), spec: { ...aSlice(WISH).spec, providerClusterID: "oslo" } } },
      { kind: "wait", reason: "SliceConflict" },
    ],
    [
      "waits for an earlier slice to go",
      {
        slice: {
          ...aSlice(WISH),
          metadata: { ...aSlice(WISH).metadata, deletionTimestamp: "2026-07-01T09:00:00Z" },
        },
      },
      { kind: "wait", reason: "SliceTerminating" },
    ],
    ["waits to be let in", { slice: aSlice(WISH) }, { kind: "wait", reason: "AwaitingAuthentication" }],
    [
      "is not let in",
      { slice: aSlice(WISH, { authentication: "Denied" }) },
      { kind: "wait", reason: "AuthenticationDenied", isTrouble: true },
    ],
    [
      "waits for the grant",
      { slice: aSlice(WISH, { authentication: "Accepted" }) },
      { kind: "wait", reason: "AwaitingGrant" },
    ],
    [
      "is denied",
      { slice: aSlice(WISH, { authentication: "Accepted", resources: "Denied" }) },
      {
        kind: "wait",
        reason: "SliceDenied",
        isTrouble: true,
        message: expect.stringContaining("NoSuchReservation"),
      },
    ],
    [
      "is content with fewer pods and less scratch space than it asked for",
      {
        slice: aSlice(WISH, {
          ...ACCEPTED,
          granted: { ...WISH.resources, pods: "50", "ephemeral-storage": "5Gi" },
        }),
      },
      { kind: "ready" },
    ],
    [
      "is granted in part",
      { slice: aSlice(WISH, { ...ACCEPTED, granted: { ...WISH.resources, cpu: "1" } }) },
      {
        kind: "wait",
        reason: "PartialGrant",
        isTrouble: true,
        message: expect.stringContaining("cpu is 1 instead of 4"),
      },
    ],
    [
      "is granted in other words",
      {
        slice: aSlice(WISH, { ...ACCEPTED, granted: { ...WISH.resources, cpu: "4000m", memory: "8192Mi" } }),
      },
      { kind: "ready" },
    ],
  ])("%s", (_, changes, expected) => {
    expect(plan(changes)).toMatchObject(expected);
  });

  test("tells of a renewal, and of an end to its end", () => {
    const renewed = aWish({ status: { phase: "Active", message: "", expiresAt: "2026-07-01T12:00:00Z" } });
    const telling = (expiresAt: string | null) => ({
      body: { metadata: { annotations: { [EXPIRES_AT_ANNOTATION]: expiresAt } } },
    });
    expect(expiryChange(aSlice(WISH), renewed)).toMatchObject(telling("2026-07-01T12:00:00.000Z"));
    expect(expiryChange(aSlice(renewed), WISH)).toMatchObject(telling(null));
    expect(expiryChange(aSlice(renewed), renewed)).toBeUndefined();
    expect(planEstablish(renewed, GOOD)).toMatchObject({ kind: "ready" });
  });

  test("takes back what somebody added to its slice", () => {
    const slice = aSlice(WISH, ACCEPTED);
    const resources = { ...WISH.resources, cpu: "16", "nvidia.com/gpu": "8" };
    expect(plan({ slice: { ...slice, spec: { ...slice.spec, resources } } })).toMatchObject({
      kind: "change-slice",
      patch: { body: { spec: { resources: { cpu: "4", "nvidia.com/gpu": null } } } },
    });
  });
});
