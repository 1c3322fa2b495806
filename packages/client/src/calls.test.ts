import { Fault } from "@resource-broker/base";
import { HEADER, PATH, type ReservationDTO } from "@resource-broker/contract";
import { advertisementBody, reservationBody, startBroker, testCertificates } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  adoptionWindowCall,
  advertisementCall,
  advertisementPages,
  auditPages,
  type CallSender,
  closeAdoptionCall,
  cordonCall,
  dashboardLinkCall,
  decisionCall,
  forRequester,
  openAdoptionCall,
  policyCall,
  quoteCall,
  readAll,
  releaseByKeyCall,
  releaseCall,
  renewCall,
  reservationCall,
  reservationPages,
  reserveCall,
  uncordonCall,
} from "./calls.ts";
import { createDirectCalls } from "./direct-calls.ts";
import { clientOf } from "./testing/client-of.ts";

test("an admin makes every call of an admin", async () => {
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates });
  onTestFinished(broker.dispose);
  const brokerUrls = [`https://127.0.0.1:${broker.port}`];
  const clusters = ["paris", "rome"].map((name) =>
    clientOf({ brokerUrls, credentials: certificates.cluster(name) }),
  );
  for (const { client } of await Promise.all(clusters)) {
    onTestFinished(client.close);
    const cpu = client.identity() === "paris" ? 16 : 1;
    await client.publish(advertisementBody(client.identity(), { cpu, memoryGi: 64 }));
  }
  const { client: admin } = await clientOf({ brokerUrls, credentials: certificates.admin("ops") });
  onTestFinished(admin.close);
  const value = async <T>(call: Parameters<typeof admin.request<T>>[0]): Promise<T> =>
    (await admin.request(call)).value;

  expect(await value(advertisementCall("paris"))).toMatchObject({ clusterID: "paris" });
  expect(await readAll(admin, advertisementPages())).toMatchObject([
    { clusterID: "paris" },
    { clusterID: "rome" },
  ]);
  expect(await value(cordonCall("paris", "maintenance"))).toMatchObject({
    cordoned: true,
    reason: "maintenance",
  });
  const request = reservationBody({ cpu: 4, memoryGi: 8 });
  expect(await value(forRequester(quoteCall(request), "rome"))).toMatchObject({ fits: false });
  expect(await value(uncordonCall("paris"))).toMatchObject({ cordoned: false });

  const made = await value(forRequester(reserveCall(request, "first"), "rome"));
  expect(made).toMatchObject({ requesterID: "rome", targetClusterID: "paris" });
  expect(await value(reservationCall(made.id))).toMatchObject({ id: made.id });
  expect(await value(renewCall(made.id, "2h"))).toMatchObject({ id: made.id });
  expect(await value(decisionCall(made.decisionID ?? ""))).toMatchObject({ winner: "paris" });
  expect(await value(forRequester(releaseByKeyCall("first"), "rome"))).toMatchObject({ id: made.id });
  const again = await value(forRequester(reserveCall(request, "second"), "rome"));
  expect(await value(releaseCall(again.id))).toMatchObject({ status: { phase: "Released" } });
  expect((await readAll(admin, reservationPages())).map(({ id }) => id).sort()).toEqual(
    [made.id, again.id].sort(),
  );

  expect(await value(openAdoptionCall("1h"))).toMatchObject({ open: true });
  expect(await value(closeAdoptionCall())).toMatchObject({ open: false });
  expect(await value(adoptionWindowCall())).toMatchObject({ open: false });
  expect(await value(policyCall())).toMatchObject({ version: "default" });
  await expect(value(dashboardLinkCall("viewer"))).rejects.toMatchObject({ code: "not-found" });
  const audit = await readAll(admin, auditPages(0, 2));
  expect(audit.map(({ sequence }) => sequence)).toEqual(audit.map((_, index) => index + 1));
  expect(audit.length).toBeGreaterThan(4);
  for (const { client } of await Promise.all(clusters)) {
    await expect(client.request(policyCall())).rejects.toMatchObject({ code: "forbidden" });
  }
});

test("direct calls validate replies and throw the fault of an error", async () => {
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates });
  onTestFinished(broker.dispose);
  const calls = createDirectCalls(
    { certificates: certificates.admin("ops"), timeoutMs: 10_000, maxBytes: 1_000_000 },
    { wallMs: () => 0, monotonicMs: () => performance.now(), after: (ms, action) => later(ms, action) },
  );
  onTestFinished(calls.close);
  const url = new URL(`https://127.0.0.1:${broker.port}`);
  const { value, headers } = await calls.request(policyCall(), url);
  expect(value.version).toBe("default");
  expect(headers[HEADER.ledgerId.toLowerCase()]).toEqual(expect.any(String));
  await expect(calls.request(decisionCall("dec-none"), url)).rejects.toMatchObject({
    name: Fault.name,
    code: "not-found",
  });
});

function later(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}

describe("lists", () => {
  const senderOf = (links: readonly (string | undefined)[]) => {
    const asked: string[] = [];
    const request = async ({ path }: { readonly path: string }) => {
      const link = links[asked.push(path) - 1];
      const headers = link === undefined ? {} : { link: `<${link}>; rel="next"` };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the ID is read
      return { value: [{ id: String(asked.length) }] as ReservationDTO[], headers };
    };
    return { asked, sender: { request } as unknown as CallSender };
  };
  const NEXT = `${PATH.reservations}?after=1`;

  test("are read to the last page, in order", async () => {
    const { asked, sender } = senderOf([NEXT, `${PATH.reservations}?after=2`, undefined]);
    expect((await readAll(sender, reservationPages("provider"))).map(({ id }) => id)).toEqual([
      "1",
      "2",
      "3",
    ]);
    expect(asked).toEqual([
      `${PATH.reservations}?role=provider&limit=500`,
      NEXT,
      `${PATH.reservations}?after=2`,
    ]);
  });

  test("that lead to the same page again are a failure: the rest is unknown", async () => {
    const { sender } = senderOf([NEXT, NEXT]);
    await expect(readAll(sender, reservationPages())).rejects.toMatchObject({
      code: "unreachable",
      message: "the broker's list of reservations does not end",
    });
  });

  test("that are longer than the limit are a failure, in the caller's words", async () => {
    const { sender } = senderOf([NEXT, undefined]);
    const endless = (listed: string) => new Error(`too many ${listed}`);
    await expect(readAll(sender, reservationPages(), { maxItems: 1, endless })).rejects.toThrow(
      "too many reservations",
    );
  });

  test.each([
    ["advertisements", advertisementPages("paris"), { items: [], next: "paris" }],
    ["advertisements", advertisementPages("paris"), { items: [], next: "athens" }],
    ["audit entries", auditPages(7), { items: [{ sequence: 7 }], next: "7" }],
    ["audit entries", auditPages(7), { items: [{ sequence: 3 }], next: "3" }],
  ])("of %s that do not advance are a failure", async (listed, first, value) => {
    const sender = { request: async () => ({ value, headers: {} }) } as unknown as CallSender;
    await expect(readAll<unknown, unknown>(sender, first as never)).rejects.toThrow(
      `list of ${listed} does not end`,
    );
  });
});
