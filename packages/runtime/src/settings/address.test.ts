import { expect, test } from "vitest";
import { parseAddress } from "../probe/probe-settings.ts";

test.each([
  [":8080", { host: undefined, port: 8080 }],
  ["127.0.0.1:80", { host: "127.0.0.1", port: 80 }],
  ["[::1]:80", { host: "::1", port: 80 }],
  ["0", "off"],
  ["", "off"],
  ["x", undefined],
  ["::1:80", undefined],
])("the address %j means %j", (text, expected) => {
  expect(parseAddress(text)).toEqual(expected);
});
