import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CONFIG_MAPS } from "../resource/resources.ts";
import { clientFor, configFor } from "../testing/client-for.ts";
import { type FakeApiServer, fakeApiServer, type Script } from "../testing/fake-api-server.ts";
import type { KubeClient } from "./client.ts";
import { MAX_LIST_ITEMS } from "./list.ts";

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
    refusal: { code: "malformed", message: expect.stringContaining("goes on where it began") },
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
