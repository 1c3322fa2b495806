import { PATH } from "@resource-broker/contract";
import {
  nodeObject,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { untilActive } from "../resource-request.ts";
import type { FaultSetup } from "./fault-setup.ts";

/** A cluster cannot be reached, and changes meanwhile. */
export function testAbsentApiServers(setup: () => FaultSetup): void {
  test("the provider's API server is gone for a while", async () => {
    const { world, servers, rome, ask, reservationsOf, expectOneOfEach } = setup();
    const agent = world.agent("paris");
    const failures = async (): Promise<number> =>
      Number(
        /^agent_reconcile_errors_total\{controller="holds"\} (\d+)$/m.exec(await agent.scrape())?.[1] ?? 0,
      );
    const before = await failures();
    await servers.down("paris");
    onTestFinished(() => servers.up("paris"));
    const request = await ask("nobody-home");
    await untilActive(rome, "nobody-home");
    await until(
      "the agent has tried several times",
      async () => (await failures()) >= before + 5 || undefined,
    );
    expect(await agent.readiness()).toMatch(/^\[-\] cluster: .*cannot be reached/m);
    await servers.put("paris", nodeObject("paris-later", { cpu: "8", memory: "32Gi" }));
    await servers.up("paris");
    await expectOneOfEach("nobody-home");
    await until("the node that came meanwhile is advertised", async () => {
      const { body } = await world.broker.admin().request("GET", PATH.advertisement("paris"));
      return (
        (body as { resources: { allocatable: { cpu: string } } }).resources.allocatable.cpu === "72" ||
        undefined
      );
    });
    expect(await reservationsOf(request)).toHaveLength(1);
  });

  test("a request is deleted while its agent cannot see it", async () => {
    const { servers, rome, paris, ask, reservationsOf, expectOneOfEach } = setup();
    await ask("out-of-sight");
    const { reservationName: id, request } = await expectOneOfEach("out-of-sight");
    await servers.down("rome");
    onTestFinished(() => servers.up("rome"));
    await servers.remove("rome", RESOURCE_REQUESTS, { name: "out-of-sight", namespace: "default" });
    await servers.up("rome");
    await paris.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
    await rome.untilGone(RESERVATION_INSTRUCTIONS, id);
    expect(await reservationsOf(request)).toMatchObject([
      { status: { phase: "Released" }, reason: "ReleasedByRequester" },
    ]);
  });
}
