import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../resource/resources.ts";
import { POD_FIELDS } from "./core-fields.ts";
import { listPageReader, readListPage } from "./list-page.ts";
import { goSamples } from "./testing/go-samples.ts";
import { type Bytes, message, number, text, varint, wrapped } from "./testing/wire-bytes.ts";

const { podList } = goSamples();

function read(bytes: Uint8Array | Bytes) {
  const pods: Pod[] = [];
  const page = readListPage<Pod>(Uint8Array.from(bytes), POD_FIELDS, (pod) => pods.push(pod));
  return { pods, page };
}

/** The chunks are overwritten once they were taken, as a reader of sockets would. */
function readInChunks(chunks: readonly (Uint8Array | Bytes)[]) {
  const pods: Pod[] = [];
  const reader = listPageReader<Pod>(POD_FIELDS, (pod) => pods.push(pod));
  for (const chunk of chunks) {
    const bytes = Uint8Array.from(chunk);
    reader.push(bytes);
    bytes.fill(0xff);
  }
  return { pods, page: reader.end() };
}

describe("a page of a list", () => {
  it("is the same, wherever the chunks end", () => {
    const bytes = podList.protobuf;
    const whole = read(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 60 }), (cuts) => {
        const ends = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(readInChunks(chunks)).toEqual(whole);
      }),
    );
  });

  it("may have items larger than any chunk", () => {
    const name = "x".repeat(100_000);
    const bytes = wrapped(
      "PodList",
      message(2, message(1, text(1, name))),
      message(2, message(1, text(1, "y"))),
    );
    const chunks = Array.from({ length: 11 }, (_, index) =>
      bytes.slice(index * 10_000, (index + 1) * 10_000),
    );
    expect(readInChunks(chunks).pods.map(({ metadata }) => metadata?.name)).toEqual([name, "y"]);
  });

  it("that breaks off is malformed, wherever it does, and what was whole was handed over", () => {
    const bytes = podList.protobuf;
    fc.assert(
      fc.property(fc.nat(bytes.length - 5), (length) => {
        const pods: Pod[] = [];
        const reader = listPageReader<Pod>(POD_FIELDS, (pod) => pods.push(pod));
        reader.push(bytes.subarray(0, length));
        expect(() => reader.end()).toThrow(expect.objectContaining({ code: "malformed" }));
        expect(pods).toEqual(read(bytes).pods.slice(0, pods.length));
      }),
    );
  });

  it.each<[what: string, bytes: Bytes]>([
    ["nothing at all", []],
    ["half of the mark", [...Buffer.from("k8")]],
    ["JSON", [...Buffer.from('{"kind":"PodList"}')]],
    ["a Status", wrapped("Status")],
    ["a kind without a name", wrapped("")],
    ["a compressed list", [...wrapped("PodList"), ...text(3, "gzip")]],
    ["a list of another type", [...wrapped("PodList"), ...text(4, "application/json")]],
    ["a wrapping that is cut off", podList.protobuf.subarray(0, 100).toJSON().data],
    ["a wrapping of a wrong type", [...wrapped("PodList"), ...number(2, 1)]],
    ["a list with a number in it", wrapped("PodList", number(3, 1))],
    ["an item larger than any object", wrapped("PodList", [0x12, ...varint(17 * 2 ** 20)])],
    [
      "a tag that never ends",
      wrapped(
        "PodList",
        Array.from({ length: 30 }, () => 0x80),
      ),
    ],
  ])("that is %s is malformed", (_, bytes) => {
    expect(() => read(bytes)).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});
