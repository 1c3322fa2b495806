import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { namesIn } from "../go-assets/assets-list.ts";
import { readPins } from "../go-assets/cache.ts";
import { moduleFiles, moduleReplies } from "../go-assets/testing/fake-modules.ts";
import { testAssetsTool } from "../go-assets/testing/tool-promises.ts";
import { kubernetesVersion } from "../kube-assets/assets.ts";
import { GO_MODULE } from "../kube-assets/find-here.ts";
import { KIND, kindAssetsList } from "./recipe.ts";

const KUBERNETES = kubernetesVersion(readPins(GO_MODULE));
const list = kindAssetsList(KUBERNETES);

const bench = testAssetsTool({
  tool: "kind-assets",
  script: "kind:assets",
  noGo: /Go is not installed.+Install Go/,
  says: `kind ${KIND.version} ${KUBERNETES}`,
  answers: moduleReplies(list),
  files: {
    ...moduleFiles(list),
    [`modules/${KIND.path}/images/base/files/usr/local/bin/entrypoint`]: "#!/bin/bash\n",
  },
  programs: list.programs.length,
  failures: [
    ["a build that fails shows Go's words", { BREAKS_AT: "coredns" }, "go build failed:\nundefined: x"],
    ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
    ["a module that somebody changed is not taken", { SUM: "h1:other" }, "has the checksum h1:other"],
    ["a kind of another version is not taken", { SAYS: KUBERNETES }, `kind is not ${KIND.version}`],
    ["a kubeadm of another version is not taken", { SAYS: KIND.version }, `kubeadm is not ${KUBERNETES}`],
  ],
});

test("it takes kind and what its nodes run once, and then finds them without Go", async () => {
  const first = await bench().run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(`of Kubernetes ${KUBERNETES}, are in ${bench().kept()}\n`);
  expect(readdirSync(bench().kept()).sort()).toEqual(["complete", ...namesIn(list)].sort());
  const entrypoint = join(bench().kept(), "node-files/usr/local/bin/entrypoint");
  expect(readFileSync(entrypoint, "utf8")).toBe("#!/bin/bash\n");
  expect(await bench().run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(bench().built()).toHaveLength(list.programs.length);
});
