import { describe, expect, test } from "vitest";
import { readFlags } from "./flags.ts";

describe("flags", () => {
  test("clusters, files and the rest are read", () => {
    const args =
      "--cluster rome --cluster paris --crds deploy/crds --objects nodes.yaml --port 6443 --still --kubeconfig-dir out";
    expect(readFlags(args.split(" "))).toEqual({
      kind: "run",
      flags: {
        clusters: ["rome", "paris"],
        kubeconfigDir: "out",
        paths: ["deploy/crds", "nodes.yaml"],
        behaves: false,
        port: 6443,
      },
    });
  });

  test("help is help, whatever else is said", () => {
    expect(readFlags(["--help"])).toEqual({ kind: "help" });
  });

  test.each([
    [[], /name at least one cluster/u],
    [["--cluster"], /argument missing/u],
    [["--clusters", "rome"], /Unknown option '--clusters'/u],
    [["rome"], /Unexpected argument 'rome'/u],
    [["--cluster", "rome", "--port", "99999"], /must be a number from 1 to 65535/u],
    [["--cluster", "rome", "--port", "x"], /must be a number from 1 to 65535/u],
  ])("%j is wrong", (args, problem) => {
    expect(readFlags(args)).toMatchObject({ kind: "wrong", problem: expect.stringMatching(problem) });
  });
});
