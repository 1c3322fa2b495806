import { describe, expect, test } from "vitest";
import { isClusterId, isReservationIdOf, reservationId } from "./ids.ts";

const DIGEST = Uint8Array.from({ length: 32 }, (_, index) => index * 8);

test.each(["rome", "a", "eu-west.1", "0", "a".repeat(63)])("a cluster ID may be %s", (id) => {
  expect(isClusterId(id)).toBe(true);
});

const SHAPES = ["-a", "a-", ".a", "a.", "a b", "a_b", "..", "a..b", "a.-b", "a-.b", "a/b", "--flag"];
test.each(["", "Rome", "é", "a\n", "a".repeat(64), ...SHAPES])("a cluster ID may not be %j", (id) => {
  expect(isClusterId(id)).toBe(false);
});

describe("a reservation id", () => {
  const rows = [
    { name: "a plain name", requester: "rome", expected: /^rsv-rome-[a-z2-7]{16}$/ },
    { name: "dots as dashes", requester: "eu.west.1", expected: /^rsv-eu-west-1-[a-z2-7]{16}$/ },
    { name: "a long name cut to 20", requester: "a".repeat(63), expected: /^rsv-a{20}-[a-z2-7]{16}$/ },
    {
      name: "no double dash after the cut",
      requester: `${"a".repeat(19)}-b`,
      expected: /^rsv-a{19}-[a-z2-7]{16}$/,
    },
  ];

  test.each(rows)("has $name", ({ requester, expected }) => {
    const id = reservationId(requester, DIGEST);
    expect(id).toMatch(expected);
    expect(id.length).toBeLessThanOrEqual(41);
  });

  test("of the longest requester is its own, and one character more is nobody's", () => {
    const requester = "a".repeat(63);
    const id = reservationId(requester, DIGEST);
    expect(id).toHaveLength(41);
    expect(isReservationIdOf(id, requester)).toBe(true);
    expect(isReservationIdOf(`${id}x`, requester)).toBe(false);
  });

  test("keeps apart requesters whose names are cut alike", () => {
    const [first, second] = ["rome", "oslo"].map((end) => `${"a".repeat(20)}-${end}`);
    const other = DIGEST.with(9, 0xff);
    expect(reservationId(first ?? "", DIGEST)).not.toBe(reservationId(second ?? "", other));
  });

  test("is base32 of the digest's first 80 bits", () => {
    const digest = new TextEncoder().encode("foobar-foobar");
    expect(reservationId("x", digest)).toBe("rsv-x-mzxw6ytboiwwm33p");
  });
});
