import { Fault } from "@resource-broker/base";
import {
  type AdoptionRequestDTO,
  LIMIT,
  PATH,
  type ReservationDTO,
  type ReservationRequestDTO,
} from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import * as calls from "./calls.ts";
import {
  advertisementPages,
  auditPages,
  type CallSender,
  queuePages,
  readAll,
  reservationPages,
  tenantPages,
} from "./calls.ts";
import { batchesOf, newerFieldsIn } from "./create-broker-client.ts";
import { readBrokerUrls } from "./endpoints.ts";
import { createEventParser, type EventBlock } from "./instruction-stream.ts";
import { connectionFault } from "./reply.ts";
import { HINTS } from "./testing/client-of.ts";

describe("addresses of the broker", () => {
  test.each([
    ["a name and a port", "https://broker.example:8443", { host: "broker.example", port: 8443 }],
    ["the usual port", "https://broker.example", { host: "broker.example", port: 443 }],
    ["a slash at the end", "https://broker.example:8443/", { text: "https://broker.example:8443" }],
    ["space around it", " https://broker.example ", { host: "broker.example" }],
    ["an address of version 6", "https://[::1]:8443", { host: "::1", text: "https://[::1]:8443" }],
  ])("%s can be read", (_, text, expected) => {
    expect(readBrokerUrls([text, text])).toMatchObject([expected]);
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
    expect(() => readBrokerUrls([])).toThrow("no address is given");
  });
});

const requestedResources = { cpu: "1", memory: "1Gi" };

test.each<[string, Partial<ReservationRequestDTO>, string[]]>([
  ["cpu, memory, duration and priority", { duration: "1h", priority: 3 }, []],
  ["a GPU", { requestedResources: { ...requestedResources, gpu: "1" } }, ["gpu"]],
  ["no GPU, said in words", { requestedResources: { ...requestedResources, gpu: "0" } }, []],
  ["storage", { requestedResources: { ...requestedResources, storage: "1Gi" } }, ["storage"]],
  [
    "extended resources",
    { requestedResources: { ...requestedResources, extended: { "amd.com/gpu": "1" } } },
    ["extended"],
  ],
  ["extended resources beside", { extended: { "amd.com/gpu": "1" } }, ["extended"]],
  ["no extended resources", { extended: { "amd.com/gpu": "0" } }, []],
  ["one node", { perNode: { cpu: "4" } }, ["perNode"]],
  ["a region", { constraints: { regions: ["eu"] } }, ["constraints"]],
  ["a label", { constraints: { labels: { tier: "gold" } } }, ["constraints"]],
  ["empty constraints", { constraints: { regions: [], labels: {} } }, []],
  ["a certain cluster", { targetClusterID: "paris" }, ["targetClusterID"]],
  ["a tier and a start", { tier: "spot", start: "2026-01-05T12:00:00Z" }, ["tier", "start"]],
])("an older broker would ignore of %s: %o", (_, more, requests) => {
  expect(newerFieldsIn({ requestedResources, ...more })).toEqual(requests);
});

test.each([
  ["one", 1, "k", 1],
  ["as many as one request may have", 1000, "k", 1],
  ["more than one request may have", 2500, "k", 3],
  ["so long that they would be too large", 1000, "k".repeat(128), 2],
])("offers are sent in as few requests as the broker takes: %s", (_, count, key, requests) => {
  const reservations: AdoptionRequestDTO["reservations"] = Array.from({ length: count }, (__, index) => ({
    id: `rsv-rome-${index}`,
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources,
    phase: "Active",
    generation: 1,
    createdAt: "2026-07-01T10:00:00Z",
    key,
  }));
  const batches = [...batchesOf({ ledgerID: "led-1", reservations })];
  expect(batches).toHaveLength(requests);
  expect(batches.flatMap((batch) => batch.reservations)).toEqual(reservations);
  for (const batch of batches) {
    expect(batch.ledgerID).toBe("led-1");
    expect(JSON.stringify(batch).length).toBeLessThanOrEqual(LIMIT.bodyBytes);
  }
});

test.each([
  [calls.advertisementCall("paris"), "GET /advertisements/paris"],
  [calls.reservationCall("rsv-1"), "GET /reservations/rsv-1"],
  [calls.renewCall("rsv-1", "2h"), 'POST /reservations/rsv-1/renew {"duration":"2h"}'],
  [calls.releaseCall("rsv-1"), "DELETE /reservations/rsv-1"],
  [calls.forRequester(calls.releaseByKeyCall("k"), "rome"), "DELETE /reservations?key=k&requester=rome"],
  [
    calls.forRequester(calls.quoteCall({ requestedResources }), "ro me"),
    /^POST \/quotes\?requester=ro%20me \{/,
  ],
  [calls.decisionCall("dec-1"), "GET /decisions/dec-1"],
  [calls.lentByCall("paris"), "GET /reservations?provider=paris&phase=live&sort=expires&limit=500"],
  [calls.policyCall(), "GET /policy"],
  [calls.cordonCall("paris", "late"), 'POST /clusters/paris/cordon {"reason":"late"}'],
  [calls.cordonCall("paris"), "POST /clusters/paris/cordon"],
  [calls.drainCall("paris", { grace: "10m" }), 'POST /clusters/paris/drain {"grace":"10m"}'],
  [calls.uncordonCall("paris"), "POST /clusters/paris/uncordon"],
  [calls.adoptionWindowCall(), "GET /adoptions/window"],
  [calls.openAdoptionCall("1h"), 'POST /adoptions/window {"duration":"1h"}'],
  [calls.closeAdoptionCall(), "DELETE /adoptions/window"],
  [calls.dashboardLinkCall("viewer"), 'POST /dashboard/links {"role":"viewer"}'],
  [calls.dashboardLinkCall(), "POST /dashboard/links {}"],
])("a call is a line of HTTP, as the README lists it: %#", ({ method, path, body }, line) => {
  const sent = `${method} ${path.replace("/api/v1", "")} ${body === undefined ? "" : JSON.stringify(body)}`;
  if (typeof line === "string") expect(sent.trimEnd()).toBe(line);
  else expect(sent).toMatch(line);
});

const url = { text: "https://broker:8443", host: "broker", port: 8443 };

test.each([
  ["ENOTFOUND", "", "the name broker is not known"],
  ["EAI_AGAIN", "", "the DNS does not answer for broker"],
  ["EHOSTUNREACH", "", "no route to that address"],
  ["ECONNRESET", "", "the connection broke"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "", "refuses our certificate"],
  ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED", "", "refuses our certificate"],
  ["EPROTO", "SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca", "refuses our certificate"],
  ["EPROTO", "SSL routines:ssl3_read_bytes:tlsv1 alert protocol version", "share no version of TLS"],
  ["ESOMETHING", "strange things", "strange things"],
  ["ESOMETHING", "", "ESOMETHING"],
])("%s %s: it is said what can be done", (code, message, expected) => {
  const cause = Object.assign(new Error(message), { code });
  const fault = connectionFault(cause, url, HINTS);
  expect(fault).toMatchObject({ code: "unreachable", cause });
  expect(fault.message).toMatch(/^https:\/\/broker:8443: /);
  expect(fault.message).toContain(expected);
});

test("a name with several addresses that all fail reports each; a fault of ours stays what it is", () => {
  const failures = new AggregateError([new Error("one"), new Error("two")], "");
  expect(connectionFault(failures, url, HINTS).message).toBe("https://broker:8443: one, two");
  const fault = new Fault("unreachable", "no answer");
  expect(connectionFault(fault, url, HINTS)).toBe(fault);
});

describe("a stream of events is parsed", () => {
  function parse(...pieces: readonly string[]): EventBlock[] {
    const parser = createEventParser();
    return pieces.flatMap((piece) => parser.push(piece));
  }

  test.each([
    ["an event", "event: capacity\ndata: {}\nid: 7\n\n", [{ name: "capacity", data: "{}", id: "7" }]],
    ["an event without ID", "data: x\r\ndata\r\n\r\n", [{ name: "message", data: "x\n", id: undefined }]],
    ["a keep-alive with an ID", ": alive\nid: 12\n\n", [{ name: "message", data: undefined, id: "12" }]],
    ["a keep-alive without one", ": alive\n\n", [{ name: "message", data: undefined, id: undefined }]],
    ["what is not finished", "data: x\n", []],
    [
      "only the last event of a commit with its ID",
      "event: a\ndata: 1\n\nevent: b\ndata: 2\nid: 9\n\nid: 10\n\n",
      [
        { name: "a", data: "1", id: undefined },
        { name: "b", data: "2", id: "9" },
        { name: "message", data: undefined, id: "10" },
      ],
    ],
  ])("%s", (_, text, blocks) => {
    expect(parse(text)).toEqual(blocks);
  });

  test.each([
    ["one line", ["data: ".padEnd(1024 * 1024 + 10, "x")]],
    ["many lines", Array.from({ length: 1100 }, () => `data: ${"x".repeat(1000)}\n`)],
  ])("an event without an end is given up: %s", (_, pieces) => {
    expect(() => parse(...pieces)).toThrow("more than 1048576 characters");
  });
});

describe("lists", () => {
  const senderOf = (links: readonly (string | undefined)[]) => {
    const asked: string[] = [];
    const request = async ({ path }: { readonly path: string }) => {
      const link = links[asked.push(path) - 1];
      const headers = link === undefined ? {} : { link: `<${link}>; rel="next"` };
      return { value: [{ id: String(asked.length) }] as ReservationDTO[], headers };
    };
    return { asked, sender: { request } as unknown as CallSender };
  };
  const [SECOND, THIRD] = [1, 2].map((after) => `${PATH.reservations}?after=${after}`);

  test("are read to the last page, in order", async () => {
    const { asked, sender } = senderOf([SECOND, THIRD, undefined]);
    const ids = (await readAll(sender, reservationPages("provider"))).map(({ id }) => id);
    expect(ids).toEqual(["1", "2", "3"]);
    expect(asked).toEqual([`${PATH.reservations}?role=provider&limit=500`, SECOND, THIRD]);
  });

  test.each([
    ["the queue of one cluster", queuePages("rome"), `${PATH.queue}?limit=500&offset=`, "&requester=rome"],
    ["the whole queue", queuePages(), `${PATH.queue}?limit=500&offset=`, ""],
    ["the tenants", tenantPages(), `${PATH.tenants}?limit=500&offset=`, ""],
  ])("keep what they were asked for on every page: %s", async (_, first, path, filter) => {
    const asked: string[] = [];
    const request = async (call: { readonly path: string }) => {
      const next = ["100", "200"][asked.push(call.path) - 1];
      return { value: { items: [], total: 0, ...(next === undefined ? {} : { next }) }, headers: {} };
    };
    await readAll<unknown, unknown>({ request } as unknown as CallSender, first as never);
    expect(asked).toEqual(["0", "100", "200"].map((offset) => `${path}${offset}${filter}`));
  });

  test("that lead to the same page again, or are longer than the limit, are a failure: the rest is unknown", async () => {
    await expect(readAll(senderOf([SECOND, SECOND]).sender, reservationPages())).rejects.toMatchObject({
      code: "unreachable",
      message: "the broker's list of reservations does not end",
    });
    const limits = { maxItems: 1, endless: (listed: string) => new Error(`too many ${listed}`) };
    const long = readAll(senderOf([SECOND, undefined]).sender, reservationPages(), limits);
    await expect(long).rejects.toThrow("too many reservations");
  });

  test.each([
    ["advertisements", advertisementPages("paris"), { items: [], next: "paris" }],
    ["advertisements", advertisementPages("paris"), { items: [], next: "athens" }],
    ["audit entries", auditPages(7), { items: [{ sequence: 7 }], next: "7" }],
    ["audit entries", auditPages(7), { items: [{ sequence: 3 }], next: "3" }],
  ])("of %s that do not advance are a failure", async (listed, first, value) => {
    const sender = { request: async () => ({ value, headers: {} }) } as unknown as CallSender;
    const all = readAll<unknown, unknown>(sender, first as never);
    await expect(all).rejects.toThrow(`list of ${listed} does not end`);
  });
});
