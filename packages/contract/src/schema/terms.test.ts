import { parseQuantity } from "@resource-broker/base";
import { isClusterId, reservationId } from "@resource-broker/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Schema } from "./node.ts";
import {
  clusterId,
  currency,
  decimal,
  extendedResourceName,
  httpsUrl,
  labelKey,
  quantity,
  reservationName,
  shownClusterId,
  timeOfDay,
} from "./terms.ts";
import { validate } from "./validate.ts";

const accepts = (schema: Schema<unknown>, input: unknown): boolean => validate(schema, input).ok;

test("a cluster ID is what the domain says it is", () => {
  const near = fc.stringMatching(/^[a-zA-Z0-9.-]{0,66}$/);
  fc.assert(fc.property(near, (text) => accepts(clusterId(), text) === isClusterId(text)));
});

test("an ID that older brokers took is refused from callers, and read where a broker reports it", () => {
  for (const id of ["a..b", "a.-b", "a-.b"]) {
    expect([id, accepts(clusterId(), id), accepts(shownClusterId(), id)]).toEqual([id, false, true]);
    expect(accepts(labelKey(), `${id}/zone`)).toBe(false);
    expect(accepts(extendedResourceName(), `${id}/gpu`)).toBe(false);
  }
});

test("every reservation id of ours is a reservation's name", () => {
  const requester = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/);
  const digest = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(requester, digest, (cluster, bytes) => {
      expect(accepts(reservationName(), reservationId(cluster, bytes))).toBe(true);
    }),
  );
});

test("a quantity of any sign is what the domain parses", () => {
  const near = fc.stringMatching(/^[+-]?[0-9]{0,3}(\.[0-9]{0,3})?([numkKMGTPEi]{0,2}|[eE][+-]?[0-9]{0,4})$/);
  fc.assert(fc.property(near, (text) => accepts(quantity("any"), text) === parseQuantity(text).ok));
});

type Row = readonly [
  name: string,
  schema: Schema<unknown>,
  right: readonly unknown[],
  wrong: readonly unknown[],
];

const rows: readonly Row[] = [
  [
    "a reservation's name",
    reservationName(),
    ["rsv-rome-a", "rome.2026-07"],
    ["", "a..b", "-a", "A", "a/b", "../a", "a".repeat(254)],
  ],
  [
    "an address",
    httpsUrl(),
    ["https://10.0.0.7:6443", "https://[::1]:6443/k8s"],
    ["http://a", "https://", "https://u:p@host", "https://a?x=1", "https://a b", "javascript:alert(1)"],
  ],
  [
    "an extended resource",
    extendedResourceName(),
    ["amd.com/gpu", "a.b/c_d"],
    ["gpu", "constructor", "/gpu", "a/b/c"],
  ],
  [
    "a label's name",
    labelKey(),
    ["region", "topology.kubernetes.io/region"],
    ["", "-a", "a b", "/a", "__proto__"],
  ],
  ["a currency", currency(), ["EUR"], ["eur", "EURO", ""]],
  ["a time of day", timeOfDay(), ["00:00", "23:59", "24:00"], ["24:01", "9:00", "12:60"]],
  [
    "a price",
    decimal(),
    ["0", "0.042", 0.042, 1, 1e-7],
    ["", "-1", "1e3", ".5", "1.", -1, 1e13, 1e-13, "1,5", true],
  ],
];
const cases = rows.flatMap(([name, schema, right, wrong]) => [
  ...right.map((input) => ({ name, schema, input, is: "is" })),
  ...wrong.map((input) => ({ name, schema, input, is: "is not" })),
]);

test.each(cases)("$name $is $input", ({ schema, input, is }) => {
  expect(accepts(schema, input)).toBe(is === "is");
});
