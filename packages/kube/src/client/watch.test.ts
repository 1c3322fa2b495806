import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonLines } from "./watch.ts";

function read(chunks: readonly Buffer[]): unknown[] {
  const values: unknown[] = [];
  const { push } = jsonLines((value) => values.push(value));
  for (const chunk of chunks) push(chunk);
  return values;
}

/** Cuts the bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

const values = fc.array(fc.jsonValue({ stringUnit: "binary" }), { maxLength: 8 });
const places = fc.array(fc.nat(), { maxLength: 20 });

describe("lines of JSON", () => {
  test("are the same wherever the stream is cut, even amid a letter", () => {
    fc.assert(
      fc.property(values, places, fc.constantFrom("\n", "\r\n", "\n\n"), (written, ends, newline) => {
        const bytes = Buffer.from(written.map((value) => `${JSON.stringify(value)}${newline}`).join(""));
        const whole = read([bytes]);
        expect(read(cut(bytes, ends))).toEqual(whole);
        expect(whole).toEqual(written.map((value) => JSON.parse(JSON.stringify(value)) as unknown));
      }),
    );
  });

  test("that are no JSON are a fault", () => {
    expect(() => read([Buffer.from("<html>\n")])).toThrow("a watch event that is not JSON");
  });

  test("that never end are a fault before they fill the memory", () => {
    const chunk = Buffer.alloc(1024 * 1024, "a");
    expect(() => read(Array.from({ length: 17 }, () => chunk))).toThrow("a watch event of more than");
  });
});
