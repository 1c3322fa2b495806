import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { createScreen, LEAVE } from "./screen.ts";

const SIZE = { columns: 80, rows: 24 };

function screenWith(rows: { current: string[] }) {
  const clock = fakeClock();
  const written: string[] = [];
  const screen = createScreen({
    write: (text) => void written.push(text),
    size: () => SIZE,
    draw: () => rows.current,
    clock,
  });
  return { clock, screen, take: () => written.splice(0) };
}

const framed = (text: string): string => `\u001b[?2026h${text}\u001b[?2026l`;
const row = (number: number, text: string): string => `\u001b[${number};1H\u001b[2K${text}`;

describe("the screen", () => {
  test("takes the terminal, draws, and gives it back once", () => {
    const { screen, take } = screenWith({ current: ["one", "two"] });
    screen.enter();
    expect(take()).toEqual([expect.stringContaining("\u001b[?1049h"), framed(row(1, "one") + row(2, "two"))]);
    screen.leave();
    screen.leave();
    expect(take()).toEqual([LEAVE]);
  });

  test("writes only rows that differ, and nothing when none does", async () => {
    const rows = { current: ["one", "two", "three"] };
    const { clock, screen, take } = screenWith(rows);
    screen.enter();
    take();
    await clock.advance(500);
    screen.changed();
    expect(take()).toEqual([]);
    rows.current = ["one", "2"];
    await clock.advance(500);
    screen.changed();
    expect(take()).toEqual([framed(row(2, "2") + row(3, ""))]);
  });

  test("is drawn at most twice a second however much happens, and always shows the last of it", async () => {
    const rows = { current: [""] };
    const { clock, screen, take } = screenWith(rows);
    screen.enter();
    take();
    for (let step = 1; step <= 900; step++) {
      rows.current = [String(step)];
      screen.changed();
      await clock.advance(2);
    }
    await clock.advance(500);
    const frames = take();
    // Three in 1.8 seconds, and one for what came after the third.
    expect(frames).toHaveLength(4);
    expect(frames.at(-1)).toBe(framed(row(1, "900")));
    await clock.advance(10_000);
    expect(take()).toEqual([]);
  });

  test("is drawn as a whole after a key or another size", () => {
    const { screen, take } = screenWith({ current: ["one"] });
    screen.enter();
    take();
    screen.redraw();
    expect(take()).toEqual(["\u001b[2J", framed(row(1, "one"))]);
  });

  test("is not touched before it is taken and after it was given back", async () => {
    const rows = { current: ["one"] };
    const { clock, screen, take } = screenWith(rows);
    screen.changed();
    screen.redraw();
    screen.enter();
    rows.current = ["two"];
    screen.changed();
    screen.leave();
    take();
    screen.changed();
    screen.redraw();
    await clock.advance(10_000);
    expect(take()).toEqual([]);
  });
});
