import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEventParser, type EventBlock } from "./event-parser.ts";

function parse(...pieces: readonly string[]): EventBlock[] {
  const parser = createEventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

const event = (more: Partial<EventBlock>): EventBlock => ({
  name: "message",
  data: undefined,
  id: undefined,
  ...more,
});

describe("a stream of events is taken apart", () => {
  test.each([
    [
      "an event with everything",
      "event: capacity\ndata: {}\nid: 7\n\n",
      [event({ name: "capacity", data: "{}", id: "7" })],
    ],
    ["lines that end with CR LF", "event: a\r\ndata: x\r\n\r\n", [event({ name: "a", data: "x" })]],
    ["lines that end with CR", "event: a\rdata: x\r\r.", [event({ name: "a", data: "x" })]],
    ["a byte order mark", "\uFEFFdata: x\n\n", [event({ data: "x" })]],
    ["data of several lines", "data: one\ndata: two\ndata\n\n", [event({ data: "one\ntwo\n" })]],
    ["a comment alone: a sign of life", ": alive\n\n", [event({})]],
    ["a sign of life with a number", ": alive\nid: 12\n\n", [event({ id: "12" })]],
    ["a number alone", "id: 12\n\n", [event({ id: "12" })]],
    ["a value without a space before it, or with two", "data:x\ndata:  y\n\n", [event({ data: "x\n y" })]],
    ["a value with colons", "data: a:b: c\n\n", [event({ data: "a:b: c" })]],
    ["an id that is empty", "id\n\n", [event({ id: "" })]],
    ["an id with a zero in it, which does not count", "id: a\0b\n\n", [event({})]],
    ["fields nobody knows", "retry: 10\nfoo: bar\ndata: x\n\n", [event({ data: "x" })]],
    ["empty lines that separate nothing", "\n\n\ndata: x\n\n\n", [event({ data: "x" })]],
    ["what is not finished", "data: x\n\ndata: y\n", [event({ data: "x" })]],
    [
      "a name that does not reach beyond its event",
      "event: a\ndata: x\n\ndata: y\n\n",
      [event({ name: "a", data: "x" }), event({ data: "y" })],
    ],
    [
      "only the last event of a commit with its number",
      "event: a\ndata: 1\n\nevent: b\ndata: 2\nid: 9\n\n",
      [event({ name: "a", data: "1" }), event({ name: "b", data: "2", id: "9" })],
    ],
  ])("%s", (_, text, blocks) => {
    expect(parse(text)).toEqual(blocks);
  });

  test("CR LF that is torn apart is still one end of a line", () => {
    expect(parse("data: x\r", "\n\r", "\ndata: y\n\n")).toEqual([event({ data: "x" }), event({ data: "y" })]);
  });

  test("wherever it is cut, it says the same", () => {
    const line = fc.constantFrom("event: a", "data: x", "data: ü€", "id: 1", ": c", "", "", "data", "x: y");
    const end = fc.constantFrom("\n", "\r\n", "\r");
    const text = fc.array(fc.tuple(line, end)).map((lines) => `${lines.flat().join("")}.`);
    const property = fc.property(text, fc.array(fc.nat(20)), (whole, lengths) => {
      const pieces: string[] = [];
      let rest = whole;
      for (const length of lengths) {
        pieces.push(rest.slice(0, length));
        rest = rest.slice(length);
      }
      expect(parse(...pieces, rest)).toEqual(parse(whole));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test.each([
    ["one line", ["data: ".padEnd(1024 * 1024 + 10, "x")]],
    ["many lines", Array.from({ length: 1100 }, () => `data: ${"x".repeat(1000)}\n`)],
  ])("an event without an end is given up: %s", (_, pieces) => {
    expect(() => parse(...pieces)).toThrow("more than 1048576 characters");
  });
});
