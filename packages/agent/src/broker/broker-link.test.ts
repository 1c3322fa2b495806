import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import type { ResponseMetadata } from "../transport/broker-communicator.ts";
import { brokerLink } from "./broker-link.ts";

const BROKER_MS = Date.parse("2026-07-01T10:00:00Z");

function world() {
  const time = fakeClock(BROKER_MS + 3_600_000);
  const listeners = new Set<(response: ResponseMetadata) => void>();
  const link = brokerLink(
    {
      onResponse: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    time,
  );
  const answer = (ledgerId: string | undefined, isCurrent = true): void => {
    const brokerTimeMs = BROKER_MS + time.monotonicMs();
    for (const listener of listeners) listener({ ledgerId, brokerTimeMs, isCurrent });
  };
  return { time, link, answer };
}

test("nothing is known of the broker's time before its first answer, and this machine's does for the rest", () => {
  const { time, link, answer } = world();
  expect(link.view().now).toBeUndefined();
  expect(link.now()).toBe(time.wallMs());
  answer("led-1");
  expect(link.view().now).toBe(BROKER_MS + time.monotonicMs());
  expect(link.now()).toBe(link.view().now);
});

test("it is silent after a minute without a word, and any sign of life ends that", async () => {
  const { time, link, answer } = world();
  answer("led-1");
  await time.advance(60_000);
  expect(link.view().isSilent).toBe(false);
  await time.advance(1);
  expect(link.view().isSilent).toBe(true);
  link.markSeen();
  expect(link.view().isSilent).toBe(false);
});

test("another ledger is reported, the first one is not, nor one that is not named", () => {
  const { link, answer } = world();
  let changes = 0;
  link.onNewLedger(() => void changes++);
  answer("led-1");
  answer("led-1");
  answer(undefined);
  expect(changes).toBe(0);
  answer("led-2");
  expect(changes).toBe(1);
  expect(link.ledgerId()).toBe("led-2");
});

test("its age is that of its last answer", () => {
  const { link, answer } = world();
  expect(link.isCurrent()).toBeUndefined();
  answer(undefined, false);
  expect(link.isCurrent()).toBe(false);
  answer("led-1", true);
  expect(link.isCurrent()).toBe(true);
});

test("nothing is heard after it was stopped", () => {
  const { link, answer } = world();
  link.stop();
  answer("led-1");
  expect(link.ledgerId()).toBeUndefined();
});
