import { describe, expect, it } from "vitest";
import { parseToleratedTaint, type ToleratedTaint } from "./counted-node.ts";

describe("a tolerated taint", () => {
  const READ: readonly (readonly [string, ToleratedTaint])[] = [
    ["dedicated", { key: "dedicated" }],
    ["dedicated=batch", { key: "dedicated", value: "batch" }],
    ["dedicated:NoSchedule", { key: "dedicated", effect: "NoSchedule" }],
    ["nvidia.com/gpu=present:NoExecute", { key: "nvidia.com/gpu", value: "present", effect: "NoExecute" }],
    ["dedicated=:PreferNoSchedule", { key: "dedicated", value: "", effect: "PreferNoSchedule" }],
    ["node-role.kubernetes.io/control-plane", { key: "node-role.kubernetes.io/control-plane" }],
  ];
  it.each(READ)("is read from %j", (text, taint) => {
    expect(parseToleratedTaint(text)).toEqual({ ok: true, taint });
  });

  it.each([
    ["", "the key is missing"],
    ["=batch", "the key is missing"],
    [":NoSchedule", "the key is missing"],
    ["a=b=c", 'it may have one "=" and one ":"'],
    ["a:NoSchedule:NoExecute", 'it may have one "=" and one ":"'],
    ["a:noschedule", '"noschedule" is not an effect, known are NoSchedule, PreferNoSchedule, NoExecute'],
    ["a:", '"" is not an effect, known are NoSchedule, PreferNoSchedule, NoExecute'],
    ["-a", '"-a" is not a taint key'],
    ["a b", '"a b" is not a taint key'],
    ["A/b/c", '"A/b/c" is not a taint key'],
    ["a=b c", '"b c" is not a taint value'],
  ])("is refused as %j with the reason and the forms allowed", (text, reason) => {
    expect(parseToleratedTaint(text)).toEqual({
      ok: false,
      problem: `${JSON.stringify(text)} is not a tolerated taint: ${reason}. Write "key", "key=value", "key:Effect" or "key=value:Effect".`,
    });
  });
});
