import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../resource/resources.ts";
import { POD_FIELDS } from "./core-fields.ts";
import { goSamples } from "./testing/go-samples.ts";
import { projection } from "./testing/projection.ts";
import { type Bytes, frame, message, number, text, wrapped } from "./testing/wire-bytes.ts";
import { type WatchFrame, watchFrames } from "./watch-frames.ts";

const { watch } = goSamples();

function read(...chunks: readonly (Uint8Array | Bytes)[]): WatchFrame<Pod>[] {
  const events: WatchFrame<Pod>[] = [];
  const frames = watchFrames<Pod>(POD_FIELDS, (event) => events.push(event));
  for (const chunk of chunks) {
    const bytes = Uint8Array.from(chunk);
    frames.push(bytes);
    // Whoever owns the chunk may use it again.
    bytes.fill(0xff);
  }
  return events;
}

const pod = (version: string): Bytes => wrapped("Pod", message(1, text(1, "web"), text(6, version)));
const event = (type: string, object: Bytes): Bytes => frame(text(1, type), message(2, message(1, object)));

describe("the events of a watch", () => {
  it("are read as Kubernetes writes them", () => {
    const [added, modified, bookmark, deleted, error, ...more] = read(watch.protobuf);
    const pods = watch.events.map(({ object }) => projection(POD_FIELDS, object));
    expect([added, modified, deleted]).toEqual([
      { type: "ADDED", resourceVersion: "4712", object: pods[0] },
      { type: "MODIFIED", resourceVersion: "4713", object: pods[1] },
      { type: "DELETED", resourceVersion: "4714", object: pods[3] },
    ]);
    expect(bookmark).toEqual({ type: "BOOKMARK", resourceVersion: "4720" });
    expect(error).toEqual({
      type: "ERROR",
      status: {
        status: "Failure",
        message: "too old resource version: 1 (4711)",
        reason: "Expired",
        code: 410,
        details: {
          name: "web",
          kind: "pods",
          retryAfterSeconds: 3,
          causes: [{ reason: "ResourceVersionTooLarge", message: "Too large", field: "resourceVersion" }],
        },
      },
    });
    expect(more).toEqual([]);
  });

  it("are the same, wherever the chunks end", () => {
    const bytes = watch.protobuf;
    const whole = read(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 60 }), (cuts) => {
        const ends = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        expect(read(...ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)))).toEqual(whole);
      }),
    );
  });

  it("carry their version even when the table of fields does not ask for it", () => {
    const events: unknown[] = [];
    watchFrames({}, (one) => events.push(one)).push(Uint8Array.from(event("ADDED", pod("7"))));
    expect(events).toEqual([{ type: "ADDED", object: {}, resourceVersion: "7" }]);
  });

  it.each<[what: string, bytes: Bytes]>([
    ["a frame without content", frame()],
    ["an unheard-of type", event("RENAMED", pod("7"))],
    ["an object without its wrapping", event("ADDED", message(1, text(1, "web")))],
    ["an event without an object", frame(text(1, "ADDED"))],
    ["an error that is no Status", event("ERROR", pod("7"))],
    ["a type that is a number", frame(number(1, 7))],
    ["an object that is a number", frame(text(1, "ADDED"), message(2, number(1, 7)))],
    ["a frame larger than any object", [0x01, 0x00, 0x00, 0x01]],
    ["JSON", [...Buffer.from('{"type":"ADDED"}\n')]],
  ])("with %s are malformed", (_, bytes) => {
    expect(() => read(bytes)).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});
