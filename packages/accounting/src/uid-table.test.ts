import fc from "fast-check";
import { expect, it } from "vitest";
import { type UidTable, uidTable } from "./uid-table.ts";

const UID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
/** Texts that are almost the same, or almost a UUID. */
const ODD = [
  UID.toUpperCase(),
  ` ${UID.slice(1)}`,
  `${UID}\n`,
  UID.replaceAll("-", ""),
  "x".repeat(36),
  "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b-c4d",
  "0a1b2c3d-4e5f-4a6b-8c7d09e0f1a2b3c4d",
  "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4g",
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "",
];
// Few uids, so that they meet; some share their last digits, where neighbours in the table come from.
const uidNumber = (number: number, at: number): string =>
  `${UID.slice(0, at)}${number.toString(16).padStart(8, "0")}${UID.slice(at + 8)}`;
const uid = fc.oneof(
  fc.tuple(fc.nat(60), fc.constantFrom(0, 28)).map(([number, at]) => uidNumber(number, at)),
  fc.constantFrom(UID, ...ODD),
);

/** What happens to a table and to the map it must agree with. */
type Step = (table: UidTable, model: Map<string, number>) => void;
const setting = fc.tuple(uid, fc.maxSafeInteger()).map(
  ([key, value]): Step =>
    (table, model) => {
      table.set(key, value);
      model.set(key, value);
    },
);
const deleting = uid.map(
  (key): Step =>
    (table, model) => {
      table.delete(key);
      model.delete(key);
    },
);
/** A list that may break off, and is then begun again. */
const listing = fc.tuple(fc.array(uid), fc.array(uid)).map(
  ([broken, listed]): Step =>
    (table, model) => {
      for (const keys of [broken, listed]) {
        table.beginList();
        for (const key of keys) {
          model.set(key, model.get(key) ?? 0);
          table.set(key, model.get(key) ?? 0);
        }
      }
      const gone = [...model].filter(([key]) => !listed.includes(key));
      for (const [key] of gone) model.delete(key);
      const dropped: number[] = [];
      table.endList((value) => dropped.push(value));
      const values = (all: readonly number[]): string => all.toSorted((x, y) => x - y).join();
      if (values(dropped) !== values(gone.map(([, value]) => value))) throw new Error("others are dropped");
    },
);
const step = fc.oneof(
  { weight: 6, arbitrary: setting },
  { weight: 3, arbitrary: deleting },
  { weight: 1, arbitrary: listing },
);

it("after any sequence of changes, the table holds what a map would", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: "max" }), fc.array(uid), (steps, others) => {
      const table = uidTable();
      const model = new Map<string, number>();
      for (const change of steps) change(table, model);
      expect(table.size()).toBe(model.size);
      for (const key of [...model.keys(), ...others]) expect(table.get(key)).toBe(model.get(key));
    }),
  );
});
