import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HttpClient, StreamReply } from "../http/http-client.ts";
import { CONFIG_MAPS } from "../resource/resources.ts";
import { clientFor, configFor } from "../testing/client-for.ts";
import { type FakeApiServer, fakeApiServer, type Script } from "../testing/fake-api-server.ts";
import type { KubeClient } from "./client.ts";
import { listAll, MAX_LIST_ITEMS, MAX_LIST_PAGES } from "./list.ts";
import { formats } from "./replies.ts";

let server: FakeApiServer;
let client: KubeClient;
beforeAll(async () => {
  server = await fakeApiServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.seen.length = 0;
  client = clientFor(configFor(server.url));
  return () => client.close();
});

const metadata = (token: string) => ({ resourceVersion: "1", continue: token });
const many = Array.from({ length: 100_000 }, () => ({}));
const megabyte = Buffer.alloc(1024 * 1024, " ");

const SERVERS: readonly { name: string; script: Script; refusal: object; mostRequests: number }[] = [
  {
    name: "gives the same token again and again",
    script: (_, reply) => reply.json(200, { metadata: metadata("x"), items: [{}] }),
    refusal: { code: "malformed", message: expect.stringContaining("repeats its continue token") },
    mostRequests: 2,
  },
  {
    name: "always has another page of objects",
    script: ({ query }, reply) =>
      reply.json(200, { metadata: metadata(`${query.get("continue") ?? ""}x`), items: many }),
    refusal: { code: "malformed", message: expect.stringContaining(`more than ${MAX_LIST_ITEMS} objects`) },
    mostRequests: 6,
  },
  {
    name: "always has another page of nothing",
    script: ({ query }, reply) =>
      reply.json(200, { metadata: metadata(`${query.get("continue") ?? ""}x`), items: [] }),
    refusal: { code: "malformed", message: expect.stringContaining("100 empty pages in a row") },
    mostRequests: 101,
  },
  {
    name: "never ends its page",
    script: async (_, reply) => {
      const stream = reply.stream("application/json");
      let isOpen = true;
      void stream.closed.then(() => {
        isOpen = false;
      });
      const pour = (): void => {
        if (!isOpen) return;
        stream.write(megabyte);
        setImmediate(pour);
      };
      pour();
      await stream.closed;
    },
    refusal: { code: "too-large", message: expect.stringContaining("a page of the API server's list") },
    mostRequests: 1,
  },
];

describe("a list is given up when its server", () => {
  test.each(SERVERS)("$name", async ({ script, refusal, mostRequests }) => {
    server.answer(script);
    await expect(client.list(CONFIG_MAPS, {}, () => undefined)).rejects.toMatchObject(refusal);
    expect(server.seen.length).toBeLessThanOrEqual(mostRequests);
  });
});

describe("a list of many small pages", () => {
  const TARGET = { server: "", origin: "", verb: "list", object: { group: "", resource: "configmaps" } };
  /** A server without a network: the page of each number, and the token after it. */
  const listOf = async (pageOf: (number: number) => { token: string; items: readonly object[] }) => {
    let number = 0;
    const pieces = (): Promise<StreamReply> => {
      const { token, items } = pageOf(number++);
      const body = Buffer.from(JSON.stringify({ metadata: metadata(token), items }));
      return Promise.resolve({
        status: 200,
        type: "application/json",
        bursts: () => {
          throw new Error("a list is read by take");
        },
        take: (take) => Promise.resolve(take(body)),
      });
    };
    const http = { pieces } as unknown as HttpClient;
    const listing = { resource: CONFIG_MAPS, query: {}, each: () => undefined };
    return listAll(listing, { http, formats: formats(), target: TARGET });
  };

  test("is given up when its server goes round in circles, with an object now and then", async () => {
    const endless = listOf((number) => ({
      token: number % 2 === 0 ? "a" : "b",
      items: number % 100 === 0 ? [{}] : [],
    }));
    await expect(endless).rejects.toMatchObject({
      code: "malformed",
      message: expect.stringContaining(`more than ${MAX_LIST_PAGES} pages`),
    });
  });

  test("is read to its end however many of them are empty, if not too many in a row", async () => {
    const end = await listOf((number) => ({
      token: number === 400 ? "" : `t${number}`,
      items: number % 80 === 0 ? [{}] : [],
    }));
    expect(end.count).toBe(6);
  });
});
