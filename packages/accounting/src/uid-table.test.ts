import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type UidTable, uidTable } from "./uid-table.ts";

const UID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
const NIL = "00000000-0000-0000-0000-000000000000";

/** As many different UUIDs as wanted: they differ in one place only, which one is for the caller to say. */
const uidNumber = (number: number, at = 28): string => {
  const digits = number.toString(16).padStart(8, "0");
  return `${UID.slice(0, at)}${digits}${UID.slice(at + 8)}`;
};

function dropped(table: UidTable): number[] {
  const values: number[] = [];
  table.endList((value) => values.push(value));
  return values.sort((a, b) => a - b);
}

describe("a table of numbers by uid", () => {
  it.each([
    ["a UUID", UID],
    ["the UUID of nothing", NIL],
    ["the largest UUID", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ["no UUID", "uid-7"],
    ["an empty text", ""],
    ["a text as long as a UUID", "x".repeat(36)],
    ["a UUID in capitals", UID.toUpperCase()],
    ["a UUID with a dash too many", "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b-c4d"],
    ["a UUID with a dash missing", "0a1b2c3d-4e5f-4a6b-8c7d09e0f1a2b3c4d"],
    ["a UUID with letters that are no digits", "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4g"],
  ])("finds what was set for %s, and nothing after it was deleted", (_, uid) => {
    const table = uidTable();
    expect(table.get(uid)).toBeUndefined();
    table.set(uid, 2 ** 52);
    table.set(uid, 7);
    expect(table.get(uid)).toBe(7);
    table.delete(uid);
    table.delete(uid);
    expect(table.get(uid)).toBeUndefined();
  });

  it("takes no two texts for the same", () => {
    const table = uidTable();
    const texts = [UID, UID.toUpperCase(), ` ${UID.slice(1)}`, `${UID}\n`, UID.replaceAll("-", "")];
    texts.forEach((text, index) => table.set(text, index));
    expect(texts.map((text) => table.get(text))).toEqual(texts.map((_, index) => index));
  });

  it("keeps everything as it grows, whichever digits differ", () => {
    const table = uidTable();
    const uids = [0, 28].flatMap((at) => Array.from({ length: 3000 }, (_, number) => uidNumber(number, at)));
    uids.forEach((uid, index) => table.set(uid, index));
    expect(uids.map((uid) => table.get(uid))).toEqual(uids.map((_, index) => index));
  });

  it("drops at the end of a list what was not set since it began, and only then", () => {
    const table = uidTable();
    for (let number = 0; number < 1000; number++) table.set(uidNumber(number), number);
    table.set("uid-7", 1000);
    table.set("uid-8", 1001);
    table.beginList();
    for (let number = 0; number < 1000; number += 2) table.set(uidNumber(number), number);
    table.set("uid-8", 1001);
    expect(table.get(uidNumber(1))).toBe(1);
    expect(dropped(table)).toEqual([...Array.from({ length: 500 }, (_, index) => 2 * index + 1), 1000]);
    expect(table.get(uidNumber(1))).toBeUndefined();
    expect(table.get(uidNumber(998))).toBe(998);
    expect([table.get("uid-7"), table.get("uid-8")]).toEqual([undefined, 1001]);
  });

  it("takes what is seen in a list that breaks off for unseen in the next one", () => {
    const table = uidTable();
    for (const uid of [UID, NIL, "uid-7"]) table.set(uid, 1);
    table.beginList();
    for (const uid of [UID, "uid-7"]) table.set(uid, 2);
    table.beginList();
    table.set(NIL, 3);
    expect(dropped(table)).toEqual([2, 2]);
    expect(table.get(NIL)).toBe(3);
  });
});

// Few uids, so that they meet; some share their last digits, where neighbours in the table come from.
const uid = fc.oneof(
  fc.nat(60).map((number) => uidNumber(number)),
  fc.nat(60).map((number) => uidNumber(number, 0)),
  fc.constantFrom("uid-1", "uid-2", "", NIL),
);
/** What happens to a table and to the map it must agree with; returns what a list drops of each. */
type Step = (
  table: UidTable,
  model: Map<string, number>,
) => { readonly table: readonly number[]; readonly model: readonly number[] };
const NOTHING = { table: [], model: [] };

const setting = fc.tuple(uid, fc.maxSafeInteger()).map(
  ([key, value]): Step =>
    (table, model) => {
      table.set(key, value);
      model.set(key, value);
      return NOTHING;
    },
);
const deleting = uid.map(
  (key): Step =>
    (table, model) => {
      table.delete(key);
      model.delete(key);
      return NOTHING;
    },
);
const listing = fc.array(uid).map(
  (listed): Step =>
    (table, model) => {
      table.beginList();
      for (const key of listed) {
        table.set(key, model.get(key) ?? 0);
        model.set(key, model.get(key) ?? 0);
      }
      const gone = [...model].filter(([key]) => !listed.includes(key));
      for (const [key] of gone) model.delete(key);
      return { table: dropped(table), model: gone.map(([, value]) => value).sort((x, y) => x - y) };
    },
);
const step = fc.oneof(
  { weight: 6, arbitrary: setting },
  { weight: 3, arbitrary: deleting },
  { weight: 1, arbitrary: listing },
);

describe("after any sequence of changes", () => {
  it("the table holds what a map would", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), fc.array(uid), (steps, others) => {
        const table = uidTable();
        const model = new Map<string, number>();
        for (const change of steps) {
          const gone = change(table, model);
          expect(gone.table).toEqual(gone.model);
        }
        for (const key of [...model.keys(), ...others]) expect(table.get(key)).toBe(model.get(key));
      }),
    );
  });

  it("any UUIDs are told apart", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.uuid(), { maxLength: 200, size: "max" }), (uids) => {
        const table = uidTable();
        uids.forEach((each, index) => table.set(each, index));
        uids.forEach((each, index) => {
          if (index % 2 === 0) table.delete(each);
        });
        expect(uids.map((each) => table.get(each))).toEqual(
          uids.map((_, index) => (index % 2 === 0 ? undefined : index)),
        );
      }),
    );
  });
});
