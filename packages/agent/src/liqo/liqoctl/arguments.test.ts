import { describe, expect, test } from "vitest";
import { forceUnpeerArguments, type PeerOptions, peerArguments, unpeerArguments } from "./run-liqoctl.ts";

const OPTIONS: PeerOptions = {
  local: { kubeconfig: "/k/rome.kubeconfig" },
  remoteKubeconfig: "/k/paris.kubeconfig",
  liqoNamespace: "liqo",
  timeoutMs: 600_000,
  gatewayType: "NodePort",
  hasNetworking: true,
};

describe("the arguments of liqoctl", () => {
  test("peer the two clusters, without a slice of liqoctl's own", () => {
    expect(peerArguments(OPTIONS)).toEqual([
      "peer",
      "--kubeconfig=/k/rome.kubeconfig",
      "--remote-kubeconfig=/k/paris.kubeconfig",
      "--namespace=liqo",
      "--remote-namespace=liqo",
      "--timeout=10m",
      "--create-resource-slice=false",
      "--create-virtual-node=false",
      "--gw-server-service-type=NodePort",
    ]);
  });

  test("leave the gateway out where networking is off", () => {
    const args = peerArguments({ ...OPTIONS, hasNetworking: false });
    expect(args).toContain("--networking-disabled=true");
    expect(args.join(" ")).not.toContain("gw-server");
  });

  test.each([
    ["in a pod", {}, []],
    ["by a context", { context: "rome" }, ["--context=rome"]],
    ["by a file and a context", { kubeconfig: "k", context: "rome" }, ["--kubeconfig=k", "--context=rome"]],
  ])("find the own cluster %s", (_, local, expected) => {
    expect(unpeerArguments({ ...OPTIONS, local }).slice(1, 1 + expected.length)).toEqual(expected);
  });

  test("unpeer, and by force when the provider is gone", () => {
    expect(unpeerArguments(OPTIONS)[0]).toBe("unpeer");
    expect(forceUnpeerArguments("calm-paris", OPTIONS.local)).toEqual([
      "force",
      "unpeer",
      "--kubeconfig=/k/rome.kubeconfig",
      "--skip-confirm",
      "calm-paris",
    ]);
  });
});
