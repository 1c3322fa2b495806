import { readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testAssetsTool } from "../go-assets/testing/tool-promises.ts";
import { PROGRAMS } from "./recipe.ts";

const bench = testAssetsTool({
  tool: "kube-assets",
  script: "kube:assets",
  noGo: /Go is not installed.+Install Go .+ or set KUBEBUILDER_ASSETS/,
  says: "v1.34.4",
  programs: PROGRAMS.length,
  failures: [
    ["a build that fails shows Go's words", { BREAKS_AT: "kubectl" }, "go build failed:\nundefined: x"],
    ["a program of an old release is not taken", { SAYS: "v1.30.0" }, "kube-apiserver is 1.30.0"],
  ],
});

const given = (version: string): void => {
  for (const name of PROGRAMS) bench().write(`given/${name}`, `#!/bin/sh\necho ${version}\n`);
};

test("it builds every program once and then finds them", async () => {
  const first = await bench().run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(
    /kubectl: built in \d+ s\nkube-assets: etcd 1\.34\.4, .+ are in \S+\/cache\/v1\.34/s,
  );
  expect(bench().built()).toHaveLength(PROGRAMS.length);
  const second = await bench().run({ hasGo: false });
  expect(second).toMatchObject({ code: 0, stdout: expect.not.stringContaining("built") });
  expect(bench().built()).toHaveLength(PROGRAMS.length);
});

test("after a build that failed the next run keeps what was whole", async () => {
  expect(await bench().run({ env: { BREAKS_AT: "kube-controller-manager" } })).toMatchObject({ code: 1 });
  expect(await bench().run()).toMatchObject({ code: 0 });
  const names = bench()
    .built()
    .map((path) => path.split("/").at(-1));
  expect(names).toEqual([
    "v3",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-controller-manager",
    "kubectl",
  ]);
});

test("a run that is killed while it builds leaves no half program that the next one would take", async () => {
  await expect(bench().run({ env: { KILLS: "1" } })).rejects.toThrow("did not end by itself");
  expect(await bench().run()).toMatchObject({ code: 0, stderr: "" });
  expect(bench().built()).toHaveLength(1 + PROGRAMS.length);
});

test("what another process has finished meanwhile is left as it is", async () => {
  await bench().run();
  const marker = join(bench().kept(), "complete");
  rmSync(marker);
  expect(await bench().run({ env: { MARKS: marker } })).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(marker, "utf8")).toBe("by another\n");
});

test("out of time while another process is at it, it leaves that process alone", async () => {
  await bench().run();
  const folder = bench().kept();
  rmSync(join(folder, "complete"));
  symlinkSync(String(process.pid), `${folder}.lock`);
  expect(await bench().run({ args: ["--within", "0.001"] })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("lacks the last check. The next run goes on from here."),
  });
  expect(readlinkSync(`${folder}.lock`)).toBe(String(process.pid));
});

test("KUBEBUILDER_ASSETS is used as it is, and nothing is built", async () => {
  given("v1.35.2");
  const { code, stdout } = await bench().run({
    env: { KUBEBUILDER_ASSETS: bench().path("given") },
    hasGo: false,
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/kubectl 1\.35\.2 are in \S+\/given\n$/);
});

test("KUBEBUILDER_ASSETS that is too old, or lacks something, is refused", async () => {
  const env = { KUBEBUILDER_ASSETS: bench().path("given") };
  given("v1.33.0");
  expect(await bench().run({ env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("1.34 or newer"),
  });
  rmSync(bench().path("given/kube-controller-manager"));
  expect(await bench().run({ env })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("no kube-controller-manager"),
  });
});
