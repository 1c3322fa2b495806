import {
  type FaultyProxy,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { FaultSetup } from "./fault-setup.ts";

const QUIET_LOOKS = 20;

/** Nothing is under way: a connection is free for what is asked next. */
async function untilQuiet({ bytes }: FaultyProxy): Promise<void> {
  let [sent, looks] = [-1, 0];
  await until("the line is quiet", async () => {
    looks = bytes().sent === sent ? looks + 1 : 0;
    sent = bytes().sent;
    return looks >= QUIET_LOOKS || undefined;
  });
}

/** Somebody is killed halfway. */
export function testKilledProcesses(setup: () => FaultSetup): void {
  test("the broker is killed after it has reserved, and before its answer arrives", async () => {
    const { world, rome, ask, reservationsOf, expectOneOfEach, isAdvertised } = setup();
    const proxy = world.proxy("rome");
    onTestFinished(proxy.admit);
    await untilQuiet(proxy);
    proxy.holdReplies();
    const request = await ask("lost-answer");
    await until("the broker has booked", async () => (await reservationsOf(request))[0]);
    proxy.refuse();
    proxy.cut();
    proxy.resume();
    await world.broker.kill("SIGKILL");
    await world.broker.restart();
    expect(await reservationsOf(request)).toHaveLength(1);
    expect((await rome.find(RESOURCE_REQUESTS, "lost-answer"))?.status?.reservationName).toBeUndefined();
    proxy.admit();
    await expectOneOfEach("lost-answer");
    await until("paris is advertised again", () => isAdvertised("paris"));
  });

  test("the agent is killed between the broker's answer and the instruction", async () => {
    const { world, servers, rome, ask, reservationsOf, expectOneOfEach } = setup();
    const admit = await servers.refuseWrites(rome, RESERVATION_INSTRUCTIONS);
    const request = await ask("killed-agent");
    const { id } = await until("the broker has booked", async () => (await reservationsOf(request))[0]);
    await world.agent("rome").kill("SIGKILL");
    expect(await rome.find(RESERVATION_INSTRUCTIONS, id)).toBeUndefined();
    await admit();
    await world.agent("rome").restart();
    await expectOneOfEach("killed-agent");
  });
}
