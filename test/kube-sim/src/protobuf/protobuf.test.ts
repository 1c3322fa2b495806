import { goSamples } from "@resource-broker/kube/testing";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { decodeBody } from "./decode.ts";
import { encodeList, encodeReply, encodeWatchFrame } from "./encode.ts";

/** Objects in both of the encodings of Kubernetes' Go code, written down by tools/protobuf-tables. */
const samples = goSamples();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("what is written is byte for byte what Kubernetes' Go code writes", () => {
  it.each(samples.objects.map((sample) => [`${sample.kind}: ${sample.name}`, sample] as const))(
    "%s",
    (_, { kind, json, protobuf }) => {
      const [, object = new Uint8Array()] = encodeList(kind, [json as JsonObject], {
        resourceVersion: "",
      }).slice(1);
      expect(hex(object).endsWith(hex(protobuf))).toBe(true);
    },
  );

  it("a list, a refusal and a watch", () => {
    const { items, metadata } = samples.podList.json as { items: JsonObject[]; metadata: ListMeta };
    expect(hex(Buffer.concat(encodeList("Pod", items, metadata)))).toBe(hex(samples.podList.protobuf));
    expect(hex(encodeReply(samples.status.json as JsonObject))).toBe(hex(samples.status.protobuf));
    const frames = samples.watch.events.map(({ type, object }) =>
      encodeWatchFrame(type as "ADDED", object as JsonObject),
    );
    expect(hex(Buffer.concat(frames))).toBe(hex(samples.watch.protobuf));
  });

  it("an object of another kind is refused", () => {
    expect(() => encodeWatchFrame("ADDED", { kind: "ConfigMap" })).toThrow("cannot travel as protobuf");
  });
});

type ListMeta = Parameters<typeof encodeList>[2];

describe("a body that is read", () => {
  it("is the JSON it was written from", () => {
    const pod = samples.podList.json.items[0] as JsonObject;
    const { managedFields: _notHeard, ...metadata } = pod["metadata"] as JsonObject;
    const read = decodeBody(Buffer.from(encodeReply({ ...pod, metadata })));
    expect(read["metadata"]).toEqual(metadata);
    expect(decodeBody(Buffer.from(encodeReply(read)))).toEqual(read);
  });

  it.each([
    ["no magic", "hello", "not the protobuf it claims to be"],
    ["a length that leads beyond the end", "k8s\0\x0a\x7f", "not the protobuf it claims to be"],
    ["a number without end", `k8s\0${"\xff".repeat(12)}`, "not the protobuf it claims to be"],
    ["a wire type that Kubernetes does not use", "k8s\0\x0d\0\0\0\0", "not the protobuf it claims to be"],
    ["a kind that is not known", "k8s\0\x0a\x03\x12\x01x", "accepted media types include"],
    ["a field that is not known", "k8s\0\x0a\x05\x12\x03Pod\x12\x02\x78\x00", "is not known here; send JSON"],
  ])("is refused when it has %s", (_name, body, message) => {
    expect(() => decodeBody(Buffer.from(body, "latin1"))).toThrow(message);
  });
});
