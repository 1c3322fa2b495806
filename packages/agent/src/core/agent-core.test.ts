import { describe, expect, test } from "vitest";
import { testFleet } from "../testing/test-fleet.ts";

describe("two agents and a broker", () => {
  test("bring a request the whole way, and back", async () => {
    const { time, broker, rome, paris, begin } = testFleet();
    await begin();
    const { metadata } = rome.createRequest("more");
    await time.advance(1000);
    const [reservation] = broker.live();
    expect(reservation).toMatchObject({
      requester: "rome",
      provider: "paris",
      phase: "Active",
      acknowledged: true,
      key: `${metadata.uid}-1`,
    });
    expect(rome.reservationInstructions()).toEqual([reservation?.id]);
    expect(paris.providerInstructions()).toEqual([reservation?.id]);
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Active",
      targetClusterID: "paris",
      reservationName: reservation?.id,
      message: "Use paris for 4 CPU / 8Gi Memory",
      attempts: 1,
    });
    rome.deleteRequest("more");
    await time.advance(1000);
    expect(broker.live()).toEqual([]);
    expect(rome.reservationInstructions()).toEqual([]);
    expect(paris.providerInstructions()).toEqual([]);
  });

  test("log each step of a reservation once, with its ID", async () => {
    const { time, broker, rome, paris, begin } = testFleet();
    await begin();
    const { metadata } = rome.createRequest("more");
    await time.advance(1000);
    const reservation = broker.live()[0]?.id ?? "";
    const key = `${metadata.uid}-1`;
    await rome.stop();
    await rome.start();
    rome.deleteRequest("more");
    await time.advance(1000);
    const steps = ({ logLines }: typeof rome) => logLines.filter((text) => !text.includes("metrics.k8s.io"));
    const line = (text: string, fields: object) => `info ${text} ${JSON.stringify(fields)}`;
    expect(steps(rome)).toEqual([
      line("requesting a reservation", { request: "default/more", key }),
      line("reserved", { reservation, provider: "paris", key }),
      line("ReservationInstruction created", { reservation, provider: "paris" }),
      line("delivered", { reservation, provider: "paris" }),
      line("ReservationInstruction removed", { reservation }),
      line("reservation ended", { reservation, role: "requester", reason: "ReleasedByRequester" }),
      line("released", { reservation }),
    ]);
    expect(steps(paris)).toEqual([
      line("provider instruction received", { reservation, requester: "rome" }),
      line("enforced: capacity is held", { reservation, requester: "rome" }),
      line("reservation ended", { reservation, role: "provider", reason: "ReleasedByRequester" }),
      line("ProviderInstruction removed", { reservation }),
    ]);
  });

  test("tell the broker what is held, and so it lends nothing twice", async () => {
    const { time, broker, rome, paris, begin } = testFleet({ cpu: "6" });
    await begin();
    rome.createRequest("more");
    await time.advance(40_000);
    const account = broker.ledger().accounts.get("paris");
    expect(account?.advertisement?.usage).toMatchObject([
      {
        reservationId: paris.providerInstructions()[0],
        granted: { cpuMillis: 4000 },
        used: { cpuMillis: 0 },
      },
    ]);
    expect(account?.available.cpuMillis).toBe(2000);
    rome.createRequest("again");
    await time.advance(1000);
    expect(rome.request("again")?.status).toMatchObject({ phase: "Failed", reason: "NoCapacity" });
  });

  test("warn people whose provider has shrunk", async () => {
    const { time, broker, rome, begin } = testFleet();
    await begin();
    rome.createRequest("more");
    await time.advance(1000);
    const reservationIDs = rome.reservationInstructions();
    const message = "paris has 2 CPU less than it lends";
    broker.send("rome", { kind: "capacity", capacity: { change: "at-risk", reservationIDs, message } });
    await time.advance(1);
    expect(rome.events.at(-1)).toMatchObject({
      reason: "CapacityAtRisk",
      message,
      regarding: { kind: "ResourceRequest" },
    });
  });
});
