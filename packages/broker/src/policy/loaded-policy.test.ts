import { DEFAULT_POLICY } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { BUILT_IN_POLICY, policyInForce, readPolicy, type SourcedPolicy } from "./loaded-policy.ts";

function named(version: string, source: string): SourcedPolicy {
  return { ...BUILT_IN_POLICY, policy: { ...DEFAULT_POLICY, version }, source };
}

function world() {
  const used: string[] = [];
  const lines: string[] = [];
  const log = {
    info: () => undefined,
    warn: (_: unknown, message: string) => void lines.push(message),
    error: () => undefined,
  };
  const force = policyInForce({ use: ({ policy }) => void used.push(policy.version), log });
  return { force, used, lines };
}

describe("the policy in force", () => {
  test("is the built-in one where nobody wrote another", () => {
    expect(world().force.now()).toMatchObject({ source: "built in", policy: { version: "default" } });
  });

  test("is the object's before the file's, and people are told when there are both", () => {
    const { force, used, lines } = world();
    force.fromFile(named("file-1", "/policy.yaml"));
    force.fromObject(named("object-1", "BrokerPolicy broker/default"));
    force.fromFile(named("file-2", "/policy.yaml"));
    force.fromObject(named("object-2", "BrokerPolicy broker/default"));
    expect(used).toEqual(["file-1", "object-1", "object-2"]);
    expect(force.now().source).toBe("BrokerPolicy broker/default");
    expect(lines).toEqual([
      "there are a policy file and a BrokerPolicy object: the object is in force, the file is not",
    ]);
  });

  test("is the newest of the file again when the object is gone", () => {
    const { force, used } = world();
    force.fromObject(named("object-1", "BrokerPolicy broker/default"));
    force.fromFile(named("file-2", "/policy.yaml"));
    force.fromObject(undefined);
    expect(used).toEqual(["object-1", "file-2"]);
  });

  test("is the built-in one again when there is neither", () => {
    const { force, used } = world();
    force.fromObject(named("object-1", "BrokerPolicy broker/default"));
    force.fromObject(undefined);
    expect(used).toEqual(["object-1", "default"]);
  });
});

describe("a policy that does not name itself", () => {
  test("has the same name in a file and in an object, whatever the order of its fields", () => {
    const version = (content: unknown) => {
      const reading = readPolicy(content);
      return reading.ok ? reading.loaded.policy.version : reading.problem;
    };
    expect(version({ staleness: "1m", maxTTL: "2h" })).toBe(version({ maxTTL: "2h", staleness: "1m" }));
    expect(version({ staleness: "1m" })).not.toBe(version({ staleness: "2m" }));
  });
});
