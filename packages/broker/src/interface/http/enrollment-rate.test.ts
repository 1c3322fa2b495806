import { describe, expect, test } from "vitest";
import { enrollmentRate, networkOf } from "./enrollment-rate.ts";
import { DEFAULT_HTTP_LIMITS } from "./ports.ts";

const { enrollmentBurst } = DEFAULT_HTTP_LIMITS;
const FEW = {
  ...DEFAULT_HTTP_LIMITS,
  enrollmentsPerSecond: 1,
  enrollmentBurst: 3,
  allEnrollmentsPerSecond: 2,
  allEnrollmentBurst: 5,
};

function atOneTime() {
  const take = enrollmentRate(DEFAULT_HTTP_LIMITS, () => 0);
  return {
    stranger: (address: string): number => take({ address, tokenId: undefined }),
    invited: (tokenId: string, address: string): number => take({ address, tokenId }),
  };
}
const served = (waits: readonly number[]): number => waits.filter((ms) => ms === 0).length;

describe("callers without a right token", () => {
  test("of many networks have one limit together, which one network alone does not use up", () => {
    let now = 0;
    const take = enrollmentRate(FEW, () => now);
    const waits = (address: string, calls: number): number[] =>
      Array.from({ length: calls }, () => take({ address, tokenId: undefined }));
    expect(waits("10.0.0.1", 6)).toEqual([0, 0, 0, 1000, 1000, 1000]);
    // Five for all, of which the first network had three.
    expect(waits("2001:db8::1", 1)).toEqual([0]);
    expect(waits("10.0.0.2", 2)).toEqual([0, 500]);
    expect(waits("10.0.0.3", 1)).toEqual([500]);
    now = 500;
    expect(waits("10.0.0.4", 2)).toEqual([0, 500]);
  });

  test.each([
    ["from the same address", () => "192.0.2.7"],
    ["from 256 networks of one IPv6 prefix", (call: number) => `2001:db8:1:${(call % 256).toString(16)}::1`],
    ["from ever new IPv4 addresses", (call: number) => `10.0.${call >> 8}.${call & 255}`],
  ])("keep nobody out who has one, %s", (_, addressOf) => {
    const { stranger, invited } = atOneTime();
    const waits = Array.from({ length: 2560 }, (_each, call) => stranger(addressOf(call)));
    expect(waits.at(-1)).toBeGreaterThan(0);
    expect(invited("k3u7dq2hvm", "192.0.2.7")).toBe(0);
  });
});

test("calls with one token are limited wherever they come from, and not those with another", () => {
  const { stranger, invited } = atOneTime();
  const waits = Array.from({ length: 100 }, (_, host) => invited("k3u7dq2hvm", `10.0.0.${host}`));
  expect(served(waits)).toBe(enrollmentBurst);
  expect(invited("p9x2mm4tqa", "10.0.0.1")).toBe(0);
  expect(stranger("10.0.0.1")).toBe(0);
});

test.each([
  ["10.0.0.7", "10.0.0.7"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["::1", "0:0:0:0"],
])("calls from %s are counted as those of %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
