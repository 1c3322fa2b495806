import { podFacts } from "@resource-broker/domain";
import { describe, expect, it } from "vitest";
import type { Pod } from "../resource/object-types.ts";
import { readListPage } from "./list-page.ts";
import { POD_FIELDS } from "./pod-fields.ts";
import { goSamples } from "./testing/go-samples.ts";
import { type Bytes, message, number, text, wrapped } from "./testing/wire-bytes.ts";

const { podList } = goSamples();

function read(bytes: Uint8Array | Bytes) {
  const pods: Pod[] = [];
  const page = readListPage<Pod>(Uint8Array.from(bytes), POD_FIELDS, (pod) => pods.push(pod));
  return { pods, page };
}

describe("a page of a list", () => {
  it("is read as Kubernetes writes it", () => {
    const { pods, page } = read(podList.protobuf);
    expect(page).toEqual({ resourceVersion: "4711", continue: "next page", count: 3 });
    expect(pods.map((pod) => podFacts(pod))).toEqual(podList.json.items.map((pod) => podFacts(pod)));
  });

  it("may be the last one, and empty", () => {
    expect(read(wrapped("PodList", message(1, text(2, "7")))).page).toEqual({
      resourceVersion: "7",
      continue: "",
      count: 0,
    });
  });

  it("hands over each item before it reads the next", () => {
    const bytes = wrapped("PodList", message(2, message(1, text(1, "first"))), number(2, 1));
    const names: (string | undefined)[] = [];
    expect(() =>
      readListPage<Pod>(Uint8Array.from(bytes), POD_FIELDS, ({ metadata }) => names.push(metadata?.name)),
    ).toThrow("wire type");
    expect(names).toEqual(["first"]);
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
  ])("that is %s is malformed", (_, bytes) => {
    expect(() => read(bytes)).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});
