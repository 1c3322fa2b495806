import type { ResourceRequest } from "@resource-broker/contract/crd";
import { expect, test } from "vitest";
import { aRequest } from "../testing/samples.ts";
import { createOwnWrites } from "./request-status-writer.ts";

const KEY = "default/more";

function at(resourceVersion: string, uid = "uid-1"): ResourceRequest {
  const request = aRequest();
  return { ...request, metadata: { ...request.metadata, uid, resourceVersion } };
}

test("what was written counts while the watch shows what was before, however many writes ago", () => {
  const written = createOwnWrites();
  written.record(KEY, at("1"), at("2"));
  written.record(KEY, at("2"), at("3"));
  expect(written.latest(KEY, at("1"))).toEqual(at("3"));
  expect(written.latest(KEY, at("2"))).toEqual(at("3"));
});

test("what was written once counts until the watch has caught up", () => {
  const written = createOwnWrites();
  written.record(KEY, at("1"), at("2"));
  for (let look = 0; look < 2; look++) expect(written.latest(KEY, at("1"))).toEqual(at("2"));
});

test.each([
  ["our own write", at("2")],
  ["somebody else's later one", at("7")],
  ["a new object of the same name", at("1", "uid-2")],
  ["that it is gone", undefined],
])("what the watch shows counts once it shows %s", (_, seen) => {
  const written = createOwnWrites();
  written.record(KEY, at("1"), at("2"));
  expect(written.latest(KEY, seen)).toEqual(seen);
  expect(written.latest(KEY, at("1"))).toEqual(at("1"));
});
