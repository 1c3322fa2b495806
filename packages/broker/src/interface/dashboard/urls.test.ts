import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { apiUrl, loopbackOrigin, nameIn, pageUrl } from "./origin.ts";
import { certificates } from "./testing/running-dashboard.ts";

const certificate = new X509Certificate(certificates.broker.cert);

test.each([
  { name: "the bound address", place: { host: "127.0.0.1" }, url: "http://127.0.0.1:8090/" },
  { name: "an IPv6 address", place: { host: "::1" }, url: "http://[::1]:8090/" },
  {
    name: "a bound name of the certificate",
    place: { host: "127.0.0.1", certificate },
    url: "https://127.0.0.1:8090/",
  },
  {
    name: "a name of the certificate",
    place: { host: undefined, certificate },
    url: "https://localhost:8090/",
  },
  {
    name: "no name of the certificate",
    place: { host: "0.0.0.0", certificate },
    url: "https://localhost:8090/",
  },
])("a link leads to $name", ({ place, url }) => {
  expect(pageUrl({ ...place, port: 8090 })).toBe(url);
});

test.each([
  { api: undefined, host: "localhost:8090", url: null },
  { api: { host: "", port: 8443 }, host: "broker.example.org:8090", url: "https://broker.example.org:8443" },
  { api: { host: "0.0.0.0", port: 8443 }, host: "[::1]:8090", url: "https://[::1]:8443" },
  { api: { host: "10.0.0.7", port: 8443 }, host: "localhost:8090", url: "https://10.0.0.7:8443" },
])("brokerctl finds the API of $api at $url", ({ api, host, url }) => {
  expect(apiUrl(api, host)).toBe(url);
});

test.each(["a b", "a:b:c", "[::1", "a:999999", "", "http://a"])("'%s' names no host", (host) => {
  expect(nameIn(host)).toBe("");
});

test("on port 80 browsers leave the port out", () => {
  const place = loopbackOrigin({ host: "127.0.0.1", port: () => 80 });
  expect(["localhost", "localhost:80", "localhost:81"].map(place.isOwnHost)).toEqual([true, true, false]);
});
