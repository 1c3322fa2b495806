import { describe, expect, test } from "vitest";
import { readPins } from "../go-assets/cache.ts";
import { environmentOf, testKeptAssets } from "../go-assets/testing/kept-assets.ts";
import { describeMissing, findAssets, kubernetesVersion } from "./assets.ts";
import { findAssetsHere, GO_MODULE } from "./find-here.ts";
import { linkFlags, PROGRAMS } from "./recipe.ts";

const PINS = { goMod: "require (\n\tk8s.io/kubernetes v1.34.9\n)\n", goSum: "sums\n" };

testKeptAssets({
  tool: "kube-assets",
  pins: PINS,
  label: "v1.34.9",
  parts: PROGRAMS,
  find: (environment, pins) => {
    const { kind, folder } = findAssets(environment, pins);
    return { isThere: kind === "found", folder };
  },
});

describe("which programs are used", () => {
  const built = findAssets(environmentOf({}), PINS).folder;
  const whole = ["complete", ...PROGRAMS].map((name) => `${built}/${name}`);

  test("a whole build", () => {
    expect(findAssets(environmentOf({}, ...whole), PINS)).toEqual({
      kind: "found",
      folder: built,
      from: "cache",
    });
  });

  const given = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"].map((name) => `/k/${name}`);

  test("those of KUBEBUILDER_ASSETS before a build", () => {
    expect(findAssets(environmentOf({ KUBEBUILDER_ASSETS: "/k" }, ...whole, ...given), PINS)).toEqual({
      kind: "found",
      folder: "/k",
      from: "KUBEBUILDER_ASSETS",
    });
  });

  test("none, where KUBEBUILDER_ASSETS lacks one: a mixture would prove nothing", () => {
    const env = { KUBEBUILDER_ASSETS: "/k" };
    const some = given.filter((path) => !path.endsWith("manager"));
    expect(findAssets(environmentOf(env, ...whole, ...some), PINS)).toEqual({
      kind: "incomplete",
      folder: "/k",
      lacks: ["kube-controller-manager"],
    });
  });
});

describe("a message about what is missing", () => {
  test("names the folder and the two remedies", () => {
    const text = describeMissing({ kind: "absent", folder: "/cache/v1" });
    expect(text).toBe(
      "there is no etcd, kube-apiserver, kube-controller-manager and kubectl in /cache/v1. " +
        "Run npm run kube:assets, or set KUBEBUILDER_ASSETS.",
    );
  });

  test("names what KUBEBUILDER_ASSETS lacks", () => {
    const text = describeMissing({ kind: "incomplete", folder: "/k", lacks: ["etcd", "kubectl"] });
    expect(text).toContain("KUBEBUILDER_ASSETS is /k, where there is no etcd, no kubectl.");
    expect(text).toContain("unset it");
  });
});

describe("the committed pins", () => {
  const { goMod } = readPins(GO_MODULE);
  const version = kubernetesVersion({ goMod });

  test("are of Kubernetes 1.34 or newer", () => {
    expect(Number(version.split(".")[1])).toBeGreaterThanOrEqual(34);
  });

  test("replace every part of Kubernetes by its release of the same number", () => {
    const released = version.replace(/^v1\./, "v0.");
    const replaced = [...goMod.matchAll(/^\s*(k8s\.io\/\S+) => (\S+) (\S+)$/gm)];
    expect(replaced.length).toBeGreaterThanOrEqual(31);
    for (const [, part, by, release] of replaced) expect([by, release]).toEqual([part, released]);
  });

  test("are found from here", () => {
    const search = findAssetsHere({ KUBE_ASSETS_CACHE: "/nowhere" });
    expect(search).toEqual({ kind: "absent", folder: expect.stringContaining(`/nowhere/${version}-`) });
  });

  test("go.mod without Kubernetes is refused", () => {
    expect(() => kubernetesVersion({ goMod: "require k8s.io/api v0.34.4\n" })).toThrow(
      "go.mod pins no release",
    );
  });

  test("give the programs their version", () => {
    expect(linkFlags("v1.34.9")).toContain(
      "-X k8s.io/component-base/version.gitVersion=v1.34.9 -X k8s.io/component-base/version.gitMajor=1",
    );
  });
});
