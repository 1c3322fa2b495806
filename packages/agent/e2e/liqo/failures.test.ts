import { describe, expect, test } from "vitest";
import { FAILURES } from "./testing/failure-table.ts";
import { oneReservation, peered } from "./testing/one-reservation.ts";

/** Only a guard, above all that one of them waits for in turn. */
const TIMEOUT = { timeout: 300_000 };

describe("what goes wrong on the way is said, and leaves nothing behind", TIMEOUT, () => {
  test.each(FAILURES)("$name", async ({ spoil, flags = [], isProviderAway = false, reason, message }) => {
    const { world, rome, paris, agents, ask, seen, remove, clean } = await oneReservation({ flags });
    await spoil(world);
    if (isProviderAway) await agents.paris.stop();
    await ask();
    const request = await seen((each) => peered(each)?.reason === reason);
    expect(peered(request)).toMatchObject({ status: "False", message: expect.stringMatching(message) });
    expect(request.status?.phase).toBe("Reserved");
    await remove();
    await clean(rome);
    // An agent that is away keeps its instruction until it is back.
    if (!isProviderAway) await clean(paris);
  });
});
