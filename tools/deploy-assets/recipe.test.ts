import { describe, expect, test } from "vitest";
import { readPins } from "../go-assets/cache.ts";
import { GO_MODULE } from "./assets.ts";
import { helm, helmVersions } from "./recipe.ts";

describe("the versions", () => {
  test("are those that go.mod pins", () => {
    const versions = helmVersions(readPins(GO_MODULE));
    expect(versions.helm).toMatch(/^v3\.\d+\.\d+$/);
    expect(versions.clientGo).toMatch(/^v0\.\d+\.\d+$/);
  });

  test("of other modules are not mistaken for them", () => {
    const goMod =
      "require (\n\thelm.sh/helm/v3 v3.1.2\n\tk8s.io/client-go/more v0.9.9\n\tk8s.io/client-go v0.30.1\n)";
    expect(helmVersions({ goMod })).toEqual({ helm: "v3.1.2", clientGo: "v0.30.1" });
  });

  test("that are missing are named", () => {
    expect(() => helmVersions({ goMod: "require helm.sh/helm/v3 v3.1.2\n" })).toThrow(
      "no release of k8s.io/client-go",
    );
  });

  test("go into the program", () => {
    const { linkFlags } = helm({ helm: "v3.1.2", clientGo: "v0.30.1" });
    expect(linkFlags).toContain("internal/version.version=v3.1.2");
    expect(linkFlags).toContain("pkg/chartutil.k8sVersionMinor=30");
  });
});
