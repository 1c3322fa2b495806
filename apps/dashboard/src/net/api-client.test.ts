import { expect, test } from "vitest";
import { createApiClient, type Fetch } from "./api-client.ts";

function asking(answer: () => Response | Promise<Response>) {
  const calls: { readonly path: string; readonly init: RequestInit }[] = [];
  let signedOut = 0;
  const fetch: Fetch = async (path, init) => {
    calls.push({ path, init });
    return await answer();
  };
  return { ask: createApiClient(fetch, () => void (signedOut += 1)), calls, signedOut: () => signedOut };
}

test("every call that changes something carries the dashboard's own header", async () => {
  const { ask: api, calls } = asking(() => new Response('{"message":"done"}'));
  await api.post("/api/v1/quotes");
  await api.remove("/api/v1/dashboard/session");
  for (const { init } of calls) expect(new Headers(init.headers).get("X-Broker-Dashboard")).toBe("1");
  expect(calls[0]?.init.body).toBeUndefined();
});

test.each([
  [
    "the broker's own words",
    new Response('{"error":"no such cluster","code":"not-found"}', { status: 404 }),
    "no such cluster",
  ],
  [
    "something without words",
    new Response("<html>", { status: 502 }),
    "The broker answered 502 without a reason.",
  ],
])("a failure says %s", async (_name, response, message) => {
  const { ask: api } = asking(() => response.clone());
  await expect(api.get("/api/v1/advertisements/x")).rejects.toMatchObject({
    message,
    status: response.status,
  });
});

test("characters that hide or turn text are shown as a mark", async () => {
  const { ask: api } = asking(() => Response.json({ reason: "ro\u202eme\u200b" }));
  expect(await api.get("/api/v1/advertisements/x")).toEqual({ reason: "ro\ufffdme\ufffd" });
});

test("a broker that cannot be reached is a failure with status 0", async () => {
  const { ask: api } = asking(() => Promise.reject(new TypeError("failed to fetch")));
  await expect(api.get("/api/v1/flows")).rejects.toMatchObject({ name: "ApiError", status: 0 });
});

test("a session that ended is announced, but not while signing in", async () => {
  const { ask: api, signedOut } = asking(
    () => new Response('{"error":"sign in","code":"no-certificate"}', { status: 401 }),
  );
  await expect(api.get("/api/v1/dashboard/session")).rejects.toMatchObject({ status: 401 });
  expect(signedOut()).toBe(0);
  await expect(api.get("/api/v1/flows")).rejects.toMatchObject({ status: 401 });
  expect(signedOut()).toBe(1);
});
