import { EventEmitter } from "node:events";
import { fakeClock } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { BUSY } from "../view/testing/sample-model.ts";
import { liveTerminal } from "./live-terminal.ts";

/** A terminal whose keys, size and signals are in the test's hands. */
function terminalInHand() {
  const events = new EventEmitter();
  const published: string[] = [];
  const size = { columns: 80, rows: 24 };
  const input = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void published.push(isRaw ? "raw" : "cooked"),
    pause: () => undefined,
    resume: () => undefined,
    setEncoding: () => undefined,
  });
  const written: string[] = [];
  const output = Object.assign(new EventEmitter(), size, { write: (text: string) => written.push(text) > 0 });
  const live = liveTerminal(
    // oxlint-disable-next-line typescript/no-unsafe-argument -- a fake has only what is used of a terminal
    {
      input,
      output,
      host: events,
      suspend: () => void published.push("suspended"),
      guard: () => ({ done: () => void published.push("done") }),
    } as never,
    {
      names: ["rome", "paris", "berlin", "tokyo"],
      features: { hasColours: false, hasBlocks: true },
      clock: fakeClock(),
      onEnd: () => void published.push("end"),
    },
  );
  return { live, input, output, events, published, written };
}

const isOn = (written: readonly string[]): boolean => {
  const all = written.join("");
  return all.lastIndexOf("\u001b[?1049h") > all.lastIndexOf("\u001b[?1049l");
};

describe("the live view on a terminal", () => {
  let hand: ReturnType<typeof terminalInHand>;
  beforeEach(() => {
    hand = terminalInHand();
    hand.live.start();
    for (const update of BUSY) hand.live.update(update);
  });

  test("takes keys one by one, and gives the terminal back when the process exits", () => {
    expect(hand.published).toEqual(["raw"]);
    expect(isOn(hand.written)).toBe(true);
    hand.events.emit("exit");
    expect(hand.published).toEqual(["raw", "cooked", "done"]);
    expect(isOn(hand.written)).toBe(false);
  });

  test("shows the commands for c, and the clusters again for another c", () => {
    hand.input.emit("data", "c");
    expect(hand.written.at(-1)).toContain("1. rome asks for 4 CPU");
    hand.input.emit("data", "c");
    expect(hand.written.at(-1)).toContain("LAST DECISIONS");
  });

  test.each(["q", "\u0003"])("asks for the end when %j is typed", (typed) => {
    hand.input.emit("data", typed);
    expect(hand.published).toEqual(["raw", "end"]);
  });

  test("draws again in another size", () => {
    hand.output.columns = 120;
    hand.output.emit("resize");
    expect(hand.written.at(-1)).toContain("REGION");
  });

  test("gives the terminal back while it is put aside, and takes it again", () => {
    hand.input.emit("data", "\u001a");
    expect(hand.published).toEqual(["raw", "cooked", "suspended"]);
    expect(isOn(hand.written)).toBe(false);
    hand.events.emit("SIGCONT");
    expect(hand.published.at(-1)).toBe("raw");
    expect(isOn(hand.written)).toBe(true);
    expect(hand.written.at(-1)).toContain("Resource Broker");
  });
});
