import {
  decodeMessage,
  NODE_FIELDS,
  POD_FIELDS,
  readListPage,
  type WatchFrame,
  watchFrames,
} from "@resource-broker/kube/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { encodeList, encodeObject, encodeWatchFrame } from "./encode.ts";
import { arbitraryNode, arbitraryPod } from "./testing/arbitrary-objects.ts";
import { goSamples } from "./testing/go-samples.ts";
import { projection } from "./testing/projection.ts";

const FIELDS = { Pod: POD_FIELDS, Node: NODE_FIELDS };
const asPod = (pod: JsonObject): JsonObject => ({ ...pod, apiVersion: "v1", kind: "Pod" });

function versionOf({ metadata }: JsonObject): unknown {
  return (metadata as JsonObject)["resourceVersion"] ?? "";
}

describe("what kube reads of protobuf", () => {
  it.each(goSamples().objects.map((sample) => [`${sample.kind}: ${sample.name}`, sample] as const))(
    "is what Go's JSON has in the same places: %s",
    (_, { kind, json, protobuf }) => {
      expect(decodeMessage(FIELDS[kind], protobuf)).toEqual(projection(FIELDS[kind], json));
    },
  );

  it("is what any pod's JSON has in the same places", () => {
    fc.assert(
      fc.property(arbitraryPod, (pod) => {
        expect(decodeMessage(POD_FIELDS, encodeObject("Pod", pod))).toEqual(projection(POD_FIELDS, pod));
      }),
    );
  });

  it("is what any node's JSON has in the same places", () => {
    fc.assert(
      fc.property(arbitraryNode, (node) => {
        expect(decodeMessage(NODE_FIELDS, encodeObject("Node", node))).toEqual(projection(NODE_FIELDS, node));
      }),
    );
  });

  it("is what a large object has, whatever its letters", () => {
    const nodeSelector = { a: "漢".repeat(100_000), b: "x".repeat(10_000), c: "é".repeat(40) };
    const pod = { metadata: {}, spec: { nodeSelector }, status: {} };
    expect(decodeMessage(POD_FIELDS, encodeObject("Pod", pod))).toEqual(pod);
  });

  it("is every item of a list, in its order", () => {
    fc.assert(
      fc.property(fc.array(arbitraryPod, { maxLength: 5 }), fc.string({ minLength: 1 }), (pods, next) => {
        const bytes = Buffer.concat(encodeList("Pod", pods, { resourceVersion: "7", continue: next }));
        const read: object[] = [];
        const page = readListPage<object>(bytes, POD_FIELDS, (pod) => read.push(pod));
        expect(page).toEqual({ resourceVersion: "7", continue: next, count: pods.length });
        expect(read).toEqual(pods.map((pod) => projection(POD_FIELDS, pod)));
      }),
    );
  });

  it("is every event of a watch, in its order and wherever the chunks end", () => {
    const type = fc.constantFrom("ADDED" as const, "MODIFIED" as const, "DELETED" as const);
    const events = fc.array(fc.record({ type, object: arbitraryPod.map(asPod) }), { maxLength: 4 });
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 2000 }), (sent, size) => {
        const bytes = Buffer.concat(sent.map((event) => encodeWatchFrame(event.type, event.object)));
        const read: WatchFrame<object>[] = [];
        const frames = watchFrames<object>(POD_FIELDS, (event) => read.push(event));
        for (let at = 0; at < bytes.length; at += size) frames.push(bytes.subarray(at, at + size));
        expect(read).toEqual(
          sent.map((event) => ({
            type: event.type,
            object: projection(POD_FIELDS, event.object),
            resourceVersion: versionOf(event.object),
          })),
        );
      }),
    );
  });
});
