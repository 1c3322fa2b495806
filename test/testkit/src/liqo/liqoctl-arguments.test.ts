import { expect, test } from "vitest";
import { readLiqoctlArguments } from "./liqoctl-arguments.ts";
import { LIQOCTL_LINES } from "./testing/liqoctl-lines.ts";

test.each(LIQOCTL_LINES)("$name", ({ args, says }) => {
  const command = readLiqoctlArguments(args);
  if (says === undefined) expect(command.kind).not.toBe("refused");
  else expect(command).toMatchObject({ kind: "refused", output: expect.stringContaining(says) });
});

test("values follow after a blank or an equals sign, and booleans take nothing from the next word", () => {
  const command = readLiqoctlArguments([
    "peer",
    "--kubeconfig",
    "/rome",
    "--remote-kubeconfig=/paris",
    "--networking-disabled",
    "--create-resource-slice=false",
  ]);
  expect(command).toEqual({
    kind: "peer",
    kubeconfig: "/rome",
    remoteKubeconfig: "/paris",
    flags: new Map([
      ["kubeconfig", "/rome"],
      ["remote-kubeconfig", "/paris"],
      ["networking-disabled", "true"],
      ["create-resource-slice", "false"],
    ]),
  });
});

test("what follows two dashes is no flag", () => {
  expect(readLiqoctlArguments(["force", "unpeer", "--skip-confirm", "--", "--paris"])).toMatchObject({
    kind: "force-unpeer",
    clusterId: "--paris",
  });
});
