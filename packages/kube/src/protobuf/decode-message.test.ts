import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeMessage } from "./decode-message.ts";
import type { MessageFields } from "./fields.ts";
import { type Bytes, message, number, text, varint } from "./testing/wire-bytes.ts";

const INNER: MessageFields = { 1: { name: "inner", kind: "string" } };

const FIELDS: MessageFields = {
  1: { name: "text", kind: "string" },
  2: { name: "count", kind: "int" },
  3: { name: "flag", kind: "bool" },
  4: { name: "labels", kind: "string-map" },
  5: { name: "amounts", kind: "quantity-map" },
  6: { name: "at", kind: "time" },
  7: { name: "part", kind: { message: INNER } },
  8: { name: "parts", kind: { message: INNER }, isRepeated: true },
  9: { name: "words", kind: "string", isRepeated: true },
  10: { name: "required", kind: "string", isKeptWhenZero: true },
  11: { name: "id", kind: "string", isUnique: true },
  12: { name: "numbers", kind: "int", isRepeated: true },
  20: { name: "someLabels", kind: "string-map", only: ["app", "zone"] },
  21: { name: "someParts", kind: { message: INNER }, isRepeated: true, only: ["Ready"] },
};

const EIGHT_BYTES = [0x79, 1, 2, 3, 4, 5, 6, 7, 8];
const FOUR_BYTES = [0x7d, 1, 2, 3, 4];

const decode = (bytes: Bytes): object => decodeMessage<object>(FIELDS, Uint8Array.from(bytes));
const malformed = expect.objectContaining({ code: "malformed" });

describe("a message read in part", () => {
  it.each<[what: string, bytes: Bytes, object: object]>([
    ["nothing", [], {}],
    ["a text", text(1, "web"), { text: "web" }],
    ["a text that is no ASCII", text(1, "größer 漢字 🚀"), { text: "größer 漢字 🚀" }],
    ["a text that is no UTF-8", message(1, [0x61, 0xff, 0x62]), { text: "a\uFFFDb" }],
    ["a long text", text(1, "x".repeat(5000)), { text: "x".repeat(5000) }],
    ["a number", number(2, 300), { count: 300 }],
    ["the largest exact number", number(2, 2 ** 53 - 1), { count: 2 ** 53 - 1 }],
    ["a negative number", number(2, -1), { count: -1 }],
    ["the smallest exact number", number(2, -(2 ** 53) + 1), { count: -(2 ** 53) + 1 }],
    ["the smallest number", number(2, -(2n ** 63n)), { count: -(2 ** 63) }],
    ["a number with needless zeros", [0x10, 0x81, 0x80, 0x80, 0x00], { count: 1 }],
    ["a length with needless zeros", [0x0a, 0x81, 0x80, 0x00, 0x61], { text: "a" }],
    ["a flag", number(3, 1), { flag: true }],
    ["unset values, which JSON leaves out", [...text(1, ""), ...number(2, 0), ...number(3, 0)], {}],
    ["an unset value that JSON keeps", text(10, ""), { required: "" }],
    [
      "a map",
      [...message(4, text(1, "a"), text(2, "1")), ...message(4, text(1, "b"))],
      { labels: { a: "1", b: "" } },
    ],
    ["a map entry written backwards", message(4, text(2, "1"), text(1, "a")), { labels: { a: "1" } }],
    ["a quantity", message(5, text(1, "cpu"), message(2, text(1, "500m"))), { amounts: { cpu: "500m" } }],
    ["a quantity that was never set", message(5, text(1, "cpu")), { amounts: { cpu: "0" } }],
    ["a time", message(6, number(1, 1_782_900_000), number(2, 5)), { at: "2026-07-01T10:00:00Z" }],
    ["a time before 1970", message(6, number(1, -1)), { at: "1969-12-31T23:59:59Z" }],
    ["an unset time", message(6), {}],
    ["a message", message(7, text(1, "x")), { part: { inner: "x" } }],
    ["an empty message", message(7), { part: {} }],
    ["repeated messages", [...message(8, text(1, "x")), ...message(8)], { parts: [{ inner: "x" }, {}] }],
    ["repeated texts, empty ones too", [...text(9, "a"), ...text(9, "")], { words: ["a", ""] }],
    ["repeated numbers, zeros too", [...number(12, 0), ...number(12, 7)], { numbers: [0, 7] }],
    [
      "the entries of a map that are wanted",
      [
        ...message(20, text(1, "app"), text(2, "web")),
        ...message(20, text(1, "apps"), text(2, "no")),
        ...message(20, text(1, "zonk"), text(2, "no")),
        ...message(20, text(1, ""), text(2, "no")),
        ...message(20, text(1, "zone"), text(2, "eu")),
      ],
      { someLabels: { app: "web", zone: "eu" } },
    ],
    ["no map where no entry of it is wanted", message(20, text(1, "apps"), text(2, "no")), {}],
    [
      "an entry that does not begin with its key, since it may be wanted",
      [...message(20, text(2, "eu"), text(1, "zone")), ...message(20)],
      { someLabels: { zone: "eu", "": "" } },
    ],
    [
      "the messages that are wanted",
      [...message(21, text(1, "Steady"), text(2, "x")), ...message(21, text(1, "Ready"), text(2, "x"))],
      { someParts: [{ inner: "Ready" }] },
    ],
    ["a unique text", text(11, "6d4b75cb6d"), { id: "6d4b75cb6d" }],
    [
      "what is known among fields of every wire type that are not",
      [
        ...text(99, "skipped"),
        ...number(13, -1),
        ...EIGHT_BYTES,
        ...text(1, "web"),
        ...FOUR_BYTES,
        ...text(100_000, "skipped"),
      ],
      { text: "web" },
    ],
  ])("has %s", (_, bytes, object) => {
    expect(decode(bytes)).toEqual(object);
  });

  it("takes a map's key for a key, whatever it is called", () => {
    const bytes = message(4, text(1, "__proto__"), text(2, "x"));
    expect(JSON.stringify(decode(bytes))).toBe('{"labels":{"__proto__":"x"}}');
  });

  it("does not mistake bytes that are no UTF-8 for a text it remembers", () => {
    // Chosen so that its UTF-8 and its Latin-1 bytes share a slot of the table.
    const word = "pzgaaé";
    const latin = [...Buffer.from(word, "latin1")];
    expect([text(1, word), message(1, latin), text(1, word)].map(decode)).toEqual([
      { text: word },
      { text: "pzgaa\uFFFD" },
      { text: word },
    ]);
  });

  it("reads every text as it is, however many there are", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 140 })), (words) => {
        const bytes = words.flatMap((word) => text(9, word));
        expect(decode([...bytes, ...bytes])).toEqual(
          words.length === 0 ? {} : { words: [...words, ...words] },
        );
      }),
    );
  });
});

describe("bytes that are no such message", () => {
  it.each<[what: string, bytes: Bytes]>([
    ["a tag without a value", [0x0a]],
    ["a tag that is cut off", [0x8a]],
    ["a text that is cut off", [0x0a, 5, 0x61]],
    ["a number that is cut off", [0x10, 0x80]],
    ["a skipped number that is cut off", [...varint(13 * 8), 0xff]],
    ["a length beyond the end of all", [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["a length beyond the end of the message it is in", [...message(7, [0x0a, 3, 0x61]), 0x61, 0x61]],
    ["a skipped length beyond the end", [...varint(99 * 8 + 2), 10]],
    ["eight bytes that are seven", [0x79, 1, 2, 3, 4, 5, 6, 7]],
    ["four bytes that are three", [0x7d, 1, 2, 3]],
    ["a tag that never ends", Array.from({ length: 30 }, () => 0x80)],
    ["a length that never ends", [0x0a, ...Array.from({ length: 30 }, () => 0x80)]],
    ["a length of more than 32 bits", [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ["a number that never ends", [0x10, ...Array.from({ length: 30 }, () => 0x80)]],
    ["a skipped number that never ends", [...varint(13 * 8), ...Array.from({ length: 30 }, () => 0x80)]],
    ["a field with the number 0", [0x02, 0]],
    ["a number where a text should be", number(1, 5)],
    ["a text where a number should be", text(2, "5")],
    ["a number for a map", number(4, 5)],
    ["a number for a map's key", message(4, number(1, 5))],
    ["a number for a map's value", message(4, text(1, "a"), number(2, 5))],
    ["a number for a quantity", message(5, text(1, "cpu"), number(2, 5))],
    ["a number for a quantity's text", message(5, text(1, "cpu"), message(2, number(1, 5)))],
    ["a text for a time's seconds", message(6, text(1, "now"))],
    ["a time in the year 10000", message(6, number(1, 253_402_300_800))],
    ["a time before the year 0", message(6, number(1, -62_167_219_201))],
    ["an unwanted entry beyond the end", [...varint(20 * 8 + 2), 9, ...text(1, "apps")]],
    ["an unwanted entry whose key ends behind it", [...message(20, [0x0a, 9, 0x61]), ...text(1, "web")]],
    ["a number for a map of which only some is wanted", number(20, 5)],
    ["the start of a group", [0x6b]],
    ["the end of a group", [0x6c]],
    ["a wire type that does not exist", [0x6e]],
  ])("%s is malformed", (_, bytes) => {
    expect(() => decode(bytes)).toThrow(malformed);
  });
});
