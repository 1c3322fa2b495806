import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { encodeList, encodeObject, encodeReply, encodeWatchFrame } from "./encode.ts";
import { goSamples } from "./testing/go-samples.ts";

const { objects, podList, status, watch } = goSamples();

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const pod = (spec: JsonObject): JsonObject => ({ apiVersion: "v1", kind: "Pod", spec });

describe("what is written as protobuf", () => {
  it.each(objects.map((sample) => [`${sample.kind}: ${sample.name}`, sample] as const))(
    "is byte for byte what Kubernetes' Go code writes for %s",
    (_, { kind, json, protobuf }) => {
      expect(hex(encodeObject(kind, json))).toBe(hex(protobuf));
    },
  );

  it("is compared for more than 55 pods and nodes", () => {
    expect(objects.length).toBeGreaterThan(55);
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(["Pod", "Node"]));
  });

  it("is a list as Go writes it", () => {
    const { items, metadata } = podList.json;
    expect(hex(Buffer.concat(encodeList("Pod", items, metadata)))).toBe(hex(podList.protobuf));
  });

  it("is a refusal as Go writes it", () => {
    expect(hex(encodeReply(status.json))).toBe(hex(status.protobuf));
  });

  it("is a watch as Go writes it", () => {
    const frames = watch.events.map(({ type, object }) => encodeWatchFrame(type, object));
    expect(hex(Buffer.concat(frames))).toBe(hex(watch.protobuf));
  });

  it("has the keys of a map in their order, whatever order JSON has", () => {
    const labels = { "b.example.com/x": "1", b: "2", a: "3" };
    const sorted = { a: "3", b: "2", "b.example.com/x": "1" };
    expect(hex(encodeObject("Pod", { metadata: { labels } }))).toBe(
      hex(encodeObject("Pod", { metadata: { labels: sorted } })),
    );
  });

  it("holds objects of any size", () => {
    const [small, large] = ["x", "x".repeat(300_000)].map((value) =>
      encodeObject("Pod", { metadata: { annotations: { note: value } } }),
    );
    // A larger length takes two more bytes in the text, the entry and the metadata each.
    expect((large?.length ?? 0) - (small?.length ?? 0)).toBe(299_999 + 3 * 2);
  });
});

describe("what cannot be written as protobuf", () => {
  it.each<[what: string, object: JsonObject, complaint: string]>([
    [
      "an unknown field",
      pod({ containers: [{ name: "a" }, { name: "b", imagePullStrategy: "Always" }] }),
      "spec.containers[1].imagePullStrategy is no field of Container",
    ],
    [
      "an unknown field beside inlined ones",
      pod({ volumes: [{ name: "a", emptyDir: {}, ramDisk: {} }] }),
      "spec.volumes[0].ramDisk is no field of Volume",
    ],
    ["an unknown field of the object itself", { kind: "Pod", data: {} }, "data is no field of Pod"],
    ["a number for a text", pod({ nodeName: 7 }), "spec.nodeName is 7, which is no string"],
    ["a text for a flag", pod({ hostPID: "yes" }), 'spec.hostPID is "yes", which is no bool'],
    ["a fraction", pod({ priority: 1.5 }), "spec.priority is 1.5, which is no int"],
    ["a number beyond JSON's precision", pod({ priority: 2 ** 53 }), "spec.priority is 9007199254740992"],
    ["an object for a list", pod({ containers: {} }), "spec.containers is no list"],
    ["a hole in a list", pod({ containers: [null] }), "spec.containers[0] is null, which is no object"],
    ["a list for an object", { kind: "Pod", spec: [] }, "spec is [], which is no object"],
    [
      "a nested value in a map",
      pod({ nodeSelector: { zone: ["a"] } }),
      'spec.nodeSelector["zone"] is no text',
    ],
    ["a number among labels", pod({ nodeSelector: { zone: 1 } }), 'spec.nodeSelector["zone"] is no text'],
    [
      "a day without a time",
      { kind: "Pod", metadata: { deletionTimestamp: "2026-07-01" } },
      'metadata.deletionTimestamp is "2026-07-01", which is no time',
    ],
    [
      "a flag for a quantity",
      pod({ volumes: [{ name: "a", emptyDir: { sizeLimit: true } }] }),
      "spec.volumes[0].emptyDir.sizeLimit is true, which is no quantity",
    ],
    [
      "a flag for a port",
      pod({ containers: [{ name: "a", livenessProbe: { tcpSocket: { port: true } } }] }),
      "spec.containers[0].livenessProbe.tcpSocket.port is true, which is no int-or-string",
    ],
  ])("%s is refused by its path", (_, object, complaint) => {
    expect(() => encodeReply(object)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining(complaint) }),
    );
  });

  it("an object of another kind is refused", () => {
    expect(() => encodeWatchFrame("ADDED", { kind: "ConfigMap" })).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
  });

  it("a field without a value is as good as absent", () => {
    const bytes = encodeObject("Pod", { metadata: { creationTimestamp: null }, wrong: undefined, odd: null });
    expect(hex(bytes)).toBe(hex(encodeObject("Pod", {})));
  });
});
