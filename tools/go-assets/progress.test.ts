import { expect, test } from "vitest";
import { buildProgress, duration } from "./progress.ts";

test("packages and downloads are counted, however the output is cut", () => {
  const progress = buildProgress("etcd", 3);
  for (const piece of ["go: downloading k8s.io/api v0.34.4\nin", "ternal/cpu\nnet/http\n", "go.etcd.io/et"])
    progress.take(piece);
  expect(progress.line(65_000)).toBe("etcd: 2 of 3 packages compiled, 1 modules downloaded, 1 min 05 s");
  progress.take("cd/server/v3\n");
  expect(progress.line(70_000)).toContain("3 of 3 packages compiled");
});

test("what Go complains about is kept, and nothing else", () => {
  const progress = buildProgress("etcd", 1);
  progress.take("net/http\n# k8s.io/api/core/v1\ntypes.go:7:2: undefined: x\n");
  expect(progress.complaints()).toBe("# k8s.io/api/core/v1\ntypes.go:7:2: undefined: x");
});

test("a complaint without an end of line is kept", () => {
  const progress = buildProgress("etcd", 1);
  progress.take("go: no network");
  expect(progress.complaints()).toBe("go: no network");
});

test.each([
  [400, "0 s"],
  [59_400, "59 s"],
  [59_600, "1 min 00 s"],
  [725_000, "12 min 05 s"],
])("%d ms reads as %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
