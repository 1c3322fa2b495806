import { eventsOf, FULL_HISTORY, LedgerDriver } from "@resource-broker/testkit";
import { expect, it } from "vitest";
import { auditLines, CHAIN_START, canonical, fromCanonical, nextLink } from "./audit.ts";

const story = new LedgerDriver();
const batches = FULL_HISTORY.flatMap((day) => day(story) ?? []);
const lines = batches.flatMap(auditLines);

it("has one line for each event, with a subject and a reason", () => {
  expect(lines).toHaveLength(batches.flatMap(eventsOf).length);
  for (const { subject, detail } of lines) {
    expect(subject).not.toBe("");
    expect(detail).not.toBe("");
  }
});

it.each([
  ["a grant", /paris lends 2 CPU .* to rome\. Decision dec-rome-/],
  ["a refusal", /No cluster can lend 1000 CPU/],
  ["a request that waits", /Waits until 2026-01-05T13:01:00.000Z: madrid asks for 4 CPU \/ 1Gi Memory\./],
  ["one that leaves the queue", /Left the queue: ReleasedByRequester\./],
  ["one that waited in vain", /Left the queue: WaitTimeout: No cluster can lend 1000 CPU/],
  ["one whose cluster is evicted", /Left the queue: ReleasedByAdmin: its cluster was evicted/],
  ["a nomination with victims", /Nominated: .* kept for it\. Decision dec-\S+ names who gives way\./],
  ["a notice", /Notice: ends at .*, because rsv-lima-\S+ \(priority 0\) needs its capacity\./],
  ["a notice of a drain", /Notice: ends at .*, because its provider is drained\./],
  ["a notice that is withdrawn", /Its notice is withdrawn\./],
  ["an end after a notice", /Ended: Preempted: a request of priority 0 that waited needs its capacity/],
  ["a request that resumes", /rsv-osaka-\S+ has taken over its place in the queue\./],
  ["a provider's no", /Ended: ProviderRefused: its node is gone/],
  ["a renewal", /Renewed until 2026-02-04T12:01:00.000Z\./],
  ["a closed key", /Key never used closed until/],
  ["a cordon", /Cordoned: new kernel/],
  ["an adoption", /Adopted: tokyo lends .* to berlin, Active/],
  ["an invitation", /Invited with token token00001 until 2026-.*; an admin must accept its key\./],
  ["an enrolment", /Token token00001 was used: identity key SHA256:\S{43} waits for an admin\./],
  ["an acceptance", /Accepted: identity key SHA256:\S{43} is bound\./],
  ["a first call", /First call with an identity key: SHA256:\S{43} is bound\./],
  ["an eviction", /Evicted: its machines were sold/],
  ["a longer memory", /Remembered until .*: its pods still run/],
])("says in words why: %s", (_, says) => {
  expect(lines.map(({ detail }) => detail)).toContainEqual(expect.stringMatching(says));
});

it("tells no secret of a token, not even its hash", () => {
  expect(JSON.stringify(lines)).not.toContain("aaaa");
});

it("reads a line back from its canonical text, whatever is in it", () => {
  const [line] = lines;
  if (line === undefined) throw new Error("there are lines");
  const odd = { ...line, detail: 'quotes " and \n breaks, \u0000 and \ud800 halves' };
  expect(fromCanonical(canonical(odd))).toEqual(odd);
});

it("cuts the words of others to a bounded length", () => {
  const refusal = {
    kind: "ended",
    at: 1,
    id: "rsv-1",
    reason: "ProviderRefused",
    message: "x".repeat(10_000),
  } as const;
  const [line] = auditLines({
    number: 1,
    at: 1,
    entries: [{ by: "paris", action: "refuse", events: [refusal] }],
  });
  expect(line?.detail).toHaveLength(1000);
});

it("changes every later hash when one character changes", () => {
  const [first, other] = [nextLink(CHAIN_START, "a"), nextLink(CHAIN_START, "b")];
  expect(nextLink(first, "same").hash).not.toBe(nextLink(other, "same").hash);
});
