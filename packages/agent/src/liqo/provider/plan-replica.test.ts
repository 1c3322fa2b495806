import { describe, expect, test } from "vitest";
import type { ReplicaVerdict } from "./evaluate-replica.ts";
import { planReplica, type ReplicaState } from "./plan-replica.ts";
import {
  ASKED,
  AUTHENTICATED,
  acceptedWith,
  aReplica,
  type ReplicaChanges,
  ROME,
} from "./testing/provider-test-environment.ts";

const WALL = Date.parse("2026-07-01T10:05:00Z");
const GRANT: ReplicaVerdict = { kind: "grant", resources: ASKED, message: "reserved for rome" };
const refusal = (kind: "keep" | "deny" | "cordon", lookAgainMs?: number): ReplicaVerdict => ({
  kind: "refuse",
  reason: "ReservationEnded",
  message: "it is over",
  consequence: { kind },
  ...(lookAgainMs === undefined ? {} : { lookAgainMs }),
});
const REVOKE: ReplicaVerdict = {
  ...refusal("keep"),
  consequence: { kind: "revoke", tenant: ROME },
} as ReplicaVerdict;
const OURS = { "liqo.io/cordon": "true", "rear.fluidos.eu/cordoned": "ReservationEnded" };

function planned(replica: ReplicaChanges, verdict: ReplicaVerdict, state: Partial<ReplicaState> = {}) {
  return planReplica({
    slice: aReplica(replica),
    verdict,
    isEnforcing: false,
    guests: 0,
    quota: "none",
    wallMs: WALL,
    ...state,
  });
}

const ACCEPTED = { status: acceptedWith(ASKED) };

describe("a granted replica", () => {
  test("is accepted with what it asks for, and keeps what Liqo wrote", () => {
    const status = { conditions: [AUTHENTICATED], authParams: { signedCRT: "LS0t" } };
    expect(planned({ status }, GRANT).action).toMatchObject({
      kind: "write-status",
      event: "SliceGranted",
      status: {
        authParams: { signedCRT: "LS0t" },
        conditions: [
          AUTHENTICATED,
          {
            type: "Resources",
            status: "Accepted",
            reason: "Reserved",
            message: "reserved for rome",
            lastTransitionTime: "2026-07-01T10:05:00.000Z",
          },
        ],
        resources: ASKED,
      },
    });
  });

  test("is not written again", () => {
    expect(planned(ACCEPTED, GRANT)).toEqual({});
    expect(planned({ status: acceptedWith({ ...ASKED, cpu: "4000m" }) }, GRANT)).toEqual({});
  });

  test("gets back what it was given when somebody has raised it", () => {
    const { action } = planned({ status: acceptedWith({ ...ASKED, cpu: "64" }) }, GRANT);
    expect(action).toMatchObject({ kind: "write-status", status: { resources: ASKED } });
  });

  test("is uncordoned by whoever cordoned it", () => {
    expect(planned({ ...ACCEPTED, annotations: OURS }, GRANT)).toEqual({ action: { kind: "uncordon" } });
    expect(planned({ ...ACCEPTED, annotations: { "liqo.io/cordon": "true" } }, GRANT)).toEqual({});
  });
});

describe("a refused replica that was never accepted", () => {
  test.each([refusal("keep"), refusal("deny"), refusal("cordon"), REVOKE])(
    "is denied, and told why",
    (verdict) => {
      const { action } = planned({}, verdict);
      expect(action).toMatchObject({
        kind: "write-status",
        event: "SliceRefused",
        message: "ReservationEnded: it is over",
      });
      expect(action).toMatchObject({
        status: { conditions: [{ status: "Denied", reason: "ReservationEnded" }], resources: {} },
      });
    },
  );

  test("is looked at again when it may be right by then", () => {
    const { action } = planned({}, refusal("keep", 700));
    const status = action?.kind === "write-status" ? action.status : {};
    expect(planned({ status }, refusal("keep", 700))).toEqual({ requeueAfterMs: 700 });
  });
});

describe("a replica that claims to be another's", () => {
  const denied = planned({}, refusal("deny")).action;
  const status = denied?.kind === "write-status" ? denied.status : {};

  test("leaves no quota in the other's name, once it is denied", () => {
    expect(planned({}, refusal("deny"), { quota: "open" }).action?.kind).toBe("write-status");
    expect(planned({ status }, refusal("deny"), { quota: "open" })).toEqual({
      action: { kind: "drop-quota" },
    });
    expect(planned({ status }, refusal("deny"))).toEqual({});
  });

  test("is the only one whose quota is dropped", () => {
    expect(planned({ status }, refusal("keep"), { quota: "open" })).toEqual({});
  });
});

describe("a refused replica that was accepted", () => {
  const cordoned = { ...ACCEPTED, annotations: OURS };
  const cap = { ...refusal("keep"), consequence: { kind: "cap", resources: { cpu: "4" } } } as ReplicaVerdict;
  const rows: readonly (readonly [string, ReplicaChanges, ReplicaVerdict, Partial<ReplicaState>, object])[] =
    [
      ["is kept while it may be right again", ACCEPTED, refusal("keep", 5), {}, { requeueAfterMs: 5 }],
      [
        "is denied where nothing can run",
        ACCEPTED,
        refusal("deny"),
        {},
        { action: { kind: "write-status" } },
      ],
      [
        "is capped",
        ACCEPTED,
        cap,
        {},
        { action: { kind: "write-status", status: { resources: { cpu: "4" } } } },
      ],
      [
        "is cordoned while it is not certain",
        ACCEPTED,
        refusal("cordon"),
        {},
        { action: { kind: "cordon" } },
      ],
      ["and nothing else until then", cordoned, refusal("cordon"), { guests: 3 }, {}],
      [
        "is cordoned before anything is removed",
        ACCEPTED,
        REVOKE,
        { guests: 3 },
        { action: { kind: "cordon" } },
      ],
      [
        "is cordoned where it only says it is not",
        { ...ACCEPTED, annotations: { "liqo.io/cordon": "false" } },
        REVOKE,
        {},
        { action: { kind: "cordon" } },
      ],
      ["loses its pods", cordoned, REVOKE, { guests: 3 }, { action: { kind: "evict", tenant: ROME } }],
      ["waits for Liqo to cordon its quota", cordoned, REVOKE, { quota: "open" }, { requeueAfterMs: 2000 }],
      ["is denied in the end", cordoned, REVOKE, { quota: "cordoned" }, { action: { kind: "write-status" } }],
      ["is denied where no quota is left", cordoned, REVOKE, {}, { action: { kind: "write-status" } }],
    ];
  test.each(rows)("%s", (_, replica, verdict, state, expected) => {
    const plan = planned(replica, verdict, state);
    expect(plan).toMatchObject(expected);
    expect(Object.keys(plan)).toEqual(Object.keys(expected));
  });

  test("stays accepted when it is capped, or Liqo would not shrink its quota", () => {
    expect(planned(ACCEPTED, cap).action).toMatchObject({
      status: { conditions: [AUTHENTICATED, { status: "Accepted" }] },
    });
  });
});

describe("a replica of another class", () => {
  const LEAVE: ReplicaVerdict = { kind: "leave" };
  const foreign = { spec: { class: "default" }, ...ACCEPTED };

  test("is left alone", () => {
    expect(planned(foreign, LEAVE)).toEqual({});
  });

  test("is flagged and cordoned with --liqo-enforce, once", () => {
    const { action } = planned(foreign, LEAVE, { isEnforcing: true });
    expect(action).toMatchObject({ kind: "cordon", event: "SliceFlagged" });
    expect(planned({ ...foreign, annotations: OURS }, LEAVE, { isEnforcing: true })).toEqual({});
  });
});

describe("a replica that its consumer has deleted, and keeps from going", () => {
  const deleting = (annotations: Readonly<Record<string, string>> = {}) => {
    const slice = aReplica({ ...ACCEPTED, annotations });
    return {
      slice: { ...slice, metadata: { ...slice.metadata, deletionTimestamp: "2026-07-01T10:00:00Z" } },
    };
  };

  test.each<[string, ReplicaVerdict, Partial<ReplicaState>, object]>([
    ["is left alone while its reservation lives", GRANT, deleting(), {}],
    ["is left alone when it would be denied", refusal("deny"), deleting(), {}],
    ["is cordoned when nothing may run", REVOKE, deleting(), { action: { kind: "cordon" } }],
    [
      "loses its pods when nothing may run",
      REVOKE,
      { ...deleting(OURS), guests: 2 },
      { action: { kind: "evict", tenant: ROME } },
    ],
    ["is left to go when none is left", REVOKE, deleting(OURS), {}],
  ])("%s", (_, verdict, state, expected) => {
    const plan = planned({}, verdict, state);
    expect(plan).toMatchObject(expected);
    if (!("action" in expected)) expect(plan).not.toHaveProperty("action");
  });
});
