import { describe, expect, test } from "vitest";
import { readBrokerUrls } from "./endpoints.ts";
import { HINTS } from "./testing/client-of.ts";

describe("addresses of the broker", () => {
  test.each([
    ["a name and a port", "https://broker.example:8443", { host: "broker.example", port: 8443 }],
    ["the usual port", "https://broker.example", { host: "broker.example", port: 443 }],
    ["a slash at the end", "https://broker.example:8443/", { text: "https://broker.example:8443" }],
    ["space around it", " https://broker.example ", { host: "broker.example" }],
    ["an address of version 6", "https://[::1]:8443", { host: "::1", text: "https://[::1]:8443" }],
  ])("%s can be read", (_, text, expected) => {
    expect(readBrokerUrls([text])).toMatchObject([expected]);
  });

  test.each([
    ["no URL", "broker:8443x", '--broker-url "broker:8443x": it must begin with https://'],
    ["nothing", "", "it is not a URL"],
    ["no TLS", "http://broker:8443", "it must begin with https://"],
    ["a path", "https://broker/api", "it must end after the port"],
    ["a query", "https://broker?x=1", "it must end after the port"],
    ["a password", "https://me:secret@broker", "certificates, not passwords"],
  ])("%s is refused, with an example", (_, text, message) => {
    expect(() => readBrokerUrls(["https://fine", text], HINTS)).toThrow(message);
    expect(() => readBrokerUrls([text])).toThrow("https://broker.example:8443");
  });

  test("one that stands twice is one", () => {
    expect(readBrokerUrls(["https://a", "https://b", "https://a/"]).map(({ host }) => host)).toEqual([
      "a",
      "b",
    ]);
  });

  test("none at all is refused", () => {
    expect(() => readBrokerUrls([])).toThrow("no address is given");
  });
});
