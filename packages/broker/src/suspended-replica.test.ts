import { Fault } from "@resource-broker/base";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { CallOptions } from "./interface/http/testing/call.ts";
import { openRawConnection } from "./interface/http/testing/raw-connection.ts";
import { runBroker } from "./interface/http/testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "./interface/http/testing/samples.ts";

/** The suite of replicated stores proves that a suspended leader is unsure; here, what callers get from it. */
test("a leader that may have been replaced answers nothing from memory, and opens no event stream", async () => {
  const certificates = await testCertificates();
  const [rome, paris, ops] = [
    certificates.cluster("rome"),
    certificates.cluster("paris"),
    certificates.admin("ops"),
  ];
  let fault: Fault | undefined;
  const broker = await runBroker({
    store: memoryStore(),
    clock: fakeClock(),
    certificates: certificates.broker,
    notLeading: () => fault,
  });
  onTestFinished(broker.stop);
  const advertisement = { body: advertisementOf("paris"), headers: NEWER_AGENT };
  await broker.call(paris, "POST /api/v1/advertisements", advertisement);
  const replay: CallOptions = { body: requestOf("1", "1Gi"), headers: { "Idempotency-Key": "once" } };
  await broker.call(rome, "POST /api/v1/reservations", replay);
  const ask = async (): Promise<unknown[]> => {
    const line = await openRawConnection(broker.port, paris);
    onTestFinished(() => void line.socket.destroy());
    const stream = await line.ask("/api/v1/instructions?watch=true");
    const replies = await Promise.all([
      broker.call(rome, "GET /api/v1/reservations"),
      broker.call(rome, "POST /api/v1/reservations", replay),
      broker.call(rome, "POST /api/v1/reservations", { body: requestOf("9000", "1Gi") }),
      broker.call(paris, "GET /api/v1/instructions"),
      broker.call(ops, "GET /api/v1/audit"),
    ]);
    return [...replies.map(({ status }) => status), Number(/^HTTP\/1\.1 (\d+)/.exec(stream)?.[1])];
  };
  expect(await ask()).toEqual([200, 200, 409, 200, 200, 200]);
  fault = new Fault("not-leader", "another one may lead");
  expect(await ask()).toEqual([503, 503, 503, 503, 503, 503]);
});
