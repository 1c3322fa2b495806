import { RESOURCE_REQUESTS } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { askFor } from "../resource-request.ts";
import type { FaultSetup } from "./fault-setup.ts";

const MALFORMED = [
  { name: "letters for CPU", spec: { requestedCPU: "abc" }, says: /spec\.requestedCPU.*quantity/ },
  {
    name: "less than nothing",
    spec: { requestedCPU: "-1" },
    says: /spec\.requestedCPU.*(more than 0|positive)/,
  },
  {
    name: "a duration in words",
    spec: { duration: "5 minutes" },
    says: /spec\.duration.*must be a duration/,
  },
];

/** What is asked for is wrong, too much, or too early. */
export function testUnservedRequests(setup: () => FaultSetup): void {
  test.each(MALFORMED)(
    "the API server refuses $name with a message that can be read",
    async ({ spec, says }) => {
      const { rome, ask } = setup();
      await expect(ask("malformed", spec)).rejects.toThrow(says);
      expect(await rome.find(RESOURCE_REQUESTS, "malformed")).toBeUndefined();
    },
  );

  test("what nobody has is refused with a reason for each cluster", async () => {
    const { rome } = setup();
    await askFor(rome, "too-much", { requestedCPU: "1000" });
    const { status } = await rome.until(
      RESOURCE_REQUESTS,
      "too-much",
      (each) => each.status?.phase === "Failed",
    );
    expect(status).toMatchObject({ reason: "NoCapacity", message: expect.stringContaining("1000 CPU") });
    const lines = (status?.explanation ?? "").split("\n");
    expect(lines).toContainEqual(expect.stringMatching(/^paris: needs \d+ more CPU/));
    expect(lines).toContainEqual(expect.stringMatching(/^rome: is the requester itself/));
  });

  test("a queued request waits, and is granted when capacity is freed", async () => {
    const { rome, ask, deleteRequest, expectOneOfEach } = setup();
    await ask("first", { requestedCPU: "40" });
    await expectOneOfEach("first");
    await ask("second", { requestedCPU: "40", queue: true });
    // It may try again before anybody looks: what was given back before may be told as freed only now.
    const waiting = await rome.until(
      RESOURCE_REQUESTS,
      "second",
      ({ status }) => (status?.attempts ?? 0) >= 1,
    );
    expect(waiting.status).toMatchObject({
      phase: "Pending",
      explanation: expect.stringMatching(/^paris: needs \d+ more CPU/m),
      nextAttemptTime: expect.any(String),
    });
    await deleteRequest("first");
    const { request } = await expectOneOfEach("second");
    expect(request.status?.attempts).toBeGreaterThan(waiting.status?.attempts ?? 0);
    await deleteRequest("second");
  });
}
