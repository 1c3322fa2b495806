import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NODE_FIELDS, POD_FIELDS } from "./core-fields.ts";
import { decodeMessage } from "./decode-message.ts";
import { readListPage } from "./list-page.ts";
import { readStatus } from "./status.ts";
import { goSamples } from "./testing/go-samples.ts";
import { projection } from "./testing/projection.ts";
import { watchFrames } from "./watch-frames.ts";

const { objects, podList, status, watch } = goSamples();

const FIELDS = { Pod: POD_FIELDS, Node: NODE_FIELDS };

describe("what Kubernetes' Go code writes", () => {
  it.each(objects.map((sample) => [`${sample.kind}: ${sample.name}`, sample] as const))(
    "is read as its JSON has it in the same places: %s",
    (_, { kind, json, protobuf }) => {
      expect(decodeMessage(FIELDS[kind], protobuf)).toEqual(projection(FIELDS[kind], json));
    },
  );

  it("refuses in a readable way", () => {
    const {
      apiVersion: _,
      kind: __,
      metadata: ___,
      ...refusal
    } = { ...status.json } as Record<string, unknown>;
    expect(readStatus(status.protobuf)).toEqual(refusal);
    expect(() => readStatus(podList.protobuf)).toThrow("a PodList where a Status should be");
  });
});

describe("what was damaged on its way", () => {
  const damage = fc.array(
    fc.record({ at: fc.nat(), byte: fc.nat(255), how: fc.constantFrom("change", "drop", "insert", "cut") }),
    { minLength: 1, maxLength: 4 },
  );

  function damaged(bytes: Buffer, steps: readonly { at: number; byte: number; how: string }[]): Uint8Array {
    const copy = [...bytes];
    for (const { at, byte, how } of steps) {
      const place = at % (copy.length + 1);
      if (how === "cut") copy.length = place;
      else copy.splice(place, how === "insert" ? 0 : 1, ...(how === "drop" ? [] : [byte]));
    }
    return Uint8Array.from(copy);
  }

  it.each<[what: string, bytes: Buffer, read: (bytes: Uint8Array) => void]>([
    ["list", podList.protobuf, (bytes) => readListPage(bytes, POD_FIELDS, () => undefined)],
    ["watch", watch.protobuf, (bytes) => watchFrames(POD_FIELDS, () => undefined).push(bytes)],
    ["refusal", status.protobuf, readStatus],
    ["node", sampleNode(), (bytes) => decodeMessage(NODE_FIELDS, bytes)],
  ])("in a %s is read or refused, never anything else", (_, bytes, read) => {
    fc.assert(
      fc.property(damage, (steps) => {
        try {
          read(damaged(bytes, steps));
        } catch (error) {
          expect(error).toEqual(expect.objectContaining({ code: "malformed" }));
        }
      }),
      { numRuns: 1000 },
    );
  });

  function sampleNode(): Buffer {
    return objects.findLast(({ kind }) => kind === "Node")?.protobuf ?? Buffer.of();
  }
});
