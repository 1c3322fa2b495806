import {
  fakeClock,
  MACHINE_CLOCK,
  memoryDisk,
  memoryStore,
  testCertificates,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { cannotSign, type SigningOrder, type Signer } from "../../../enrollment/signer.ts";
import { DEFAULT_HTTP_LIMITS } from "../ports.ts";
import type { TestReply } from "../testing/call.ts";
import { enrollmentSetup, newAgent, newToken } from "../testing/joining.ts";
import { runBroker } from "../testing/running-broker.ts";

const certificates = await testCertificates();
const ca = certificates.ca.cert;
const nobody = { ca };

/** A broker whose signer does this before it signs. */
async function brokerWhoseSigner(first: (order: SigningOrder) => Promise<void>) {
  const clock = fakeClock(MACHINE_CLOCK.wallMs());
  const { enrollment, remove } = await enrollmentSetup(certificates, clock);
  const { signer: embedded } = enrollment;
  if (embedded === undefined) throw new Error("there is no signer");
  const signer: Signer = {
    ...embedded,
    sign: async (order) => {
      await first(order);
      return embedded.sign(order);
    },
  };
  const counts: string[] = [];
  const broker = await runBroker({
    store: memoryStore(memoryDisk()),
    clock,
    certificates: certificates.broker,
    enrollment: { ...enrollment, signer },
    metrics: {
      answered: () => undefined,
      demandUnmet: () => undefined,
      enrolled: (result) => void counts.push(result),
      certificateIssued: () => undefined,
    },
  });
  onTestFinished(async () => {
    await broker.stop();
    await remove();
  });
  return {
    counts,
    invite: async (clusterID: string) => {
      const { secret, ...token } = newToken();
      const body = { clusterID, ...token };
      const { status } = await broker.call(certificates.admin("ops"), "POST /api/v1/invitations", { body });
      expect(status).toBe(201);
      return { secret, ...token };
    },
    enroll: (body: unknown): Promise<TestReply> => broker.call(nobody, "POST /api/v1/enroll", { body }),
  };
}

function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

const ISSUED = { status: 200, json: { state: "issued" } };

test("no more than so many enrollments are under way; one more is told to retry, and nothing of it is used up", async () => {
  const most = DEFAULT_HTTP_LIMITS.maxEnrollmentsInFlight;
  const [hanging, ready] = [gate(), gate()];
  let signing = 0;
  const { invite, enroll, counts } = await brokerWhoseSigner(async () => {
    if (++signing === most) ready.open();
    if (signing <= most) await hanging.passed;
  });
  const orders: object[] = [];
  for (let count = 0; count <= most; count++) {
    const clusterID = `cluster-${count}`;
    orders.push(newAgent(clusterID).enrollment(await invite(clusterID), ca));
  }
  const last = orders.pop();
  const underWay = orders.map(enroll);
  await ready.passed;
  expect(await enroll(last)).toMatchObject({
    status: 503,
    json: { code: "overloaded", error: `${most} enrollments are under way; nothing was used up, retry` },
  });
  expect(counts).toEqual(["failed"]);
  hanging.open();
  for (const reply of await Promise.all(underWay)) expect(reply).toMatchObject(ISSUED);
  expect(await enroll(last)).toMatchObject(ISSUED);
});

test("a token is bound before its certificate is signed: if signing fails, only the same key may repeat", async () => {
  let failures = 1;
  const { invite, enroll, counts } = await brokerWhoseSigner(async () => {
    if (failures-- > 0) throw cannotSign("its key cannot be read");
  });
  const token = await invite("rome");
  const body = newAgent("rome").enrollment(token, ca);
  expect(await enroll(body)).toMatchObject({ status: 503, json: { code: "overloaded" } });
  expect(await enroll(newAgent("rome").enrollment(token, ca))).toMatchObject({
    status: 403,
    json: { code: "wrong-instance" },
  });
  expect(await enroll(body)).toMatchObject(ISSUED);
  expect(counts).toEqual(["failed", "refused", "issued"]);
});

test("whoever has stolen a used token does not keep its agent from asking again", async () => {
  const { invite, enroll } = await brokerWhoseSigner(async () => undefined);
  const token = await invite("rome");
  const body = newAgent("rome").enrollment(token, ca);
  expect(await enroll(body)).toMatchObject(ISSUED);
  const stolen = newAgent("rome").enrollment(token, ca);
  const statuses: number[] = [];
  for (let call = 0; call <= DEFAULT_HTTP_LIMITS.enrollmentBurst; call++)
    statuses.push((await enroll(stolen)).status);
  expect([statuses[0], statuses.at(-1)]).toEqual([403, 429]);
  expect(await enroll(body)).toMatchObject(ISSUED);
});
