import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

test("adoption is shown, closed, and opened for a while, by an admin alone and in the audit log", async () => {
  const shown = await fleet.as("ops", "adoption", "show");
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(
    /^Adoption: +open\nReservations made before: +\S+Z\nUntil: +\S+Z\nCause: +created\n$/u,
  );
  expect((await fleet.as("ops", "adoption", "close")).out).toMatch(
    /^Adoption: +closed\n[^]*Cause: +closed by ops\n$/u,
  );
  const opened = await fleet.as("ops", "adoption", "open", "--for", "2h", "-o", "json");
  expect(JSON.parse(opened.out)).toMatchObject({ open: true, cause: "opened", by: "ops" });
  const { out } = await fleet.as("ops", "audit", "--all");
  expect(out).toContain("Adoption closed.");
  expect(out).toContain("Adoption (opened): holds made before");
  expect(await fleet.as("rome", "adoption", "open")).toMatchObject({ code: 5 });
  expect(await fleet.as("ops", "adoption", "open", "--for", "soon")).toMatchObject({ code: 2 });
  expect(await fleet.as("ops", "adoption", "open", "--for", "200h")).toMatchObject({
    code: 1,
    err: expect.stringContaining("at most 7 days"),
  });
});
