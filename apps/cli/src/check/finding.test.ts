import { expect, test } from "vitest";
import { CommandError } from "../cli/exit-code.ts";
import { checked } from "./finding.ts";

test.each([
  {
    name: "a clause",
    message: "it has expired; renew it\n  It was ops's",
    says: "it has expired; renew it. It was ops's",
  },
  { name: "a sentence", message: "Not there.\nLook again", says: "Not there. Look again" },
  { name: "a list", message: "missing:\n  paris", says: "missing: paris" },
])("a message of several lines, the first of them $name, is reported in one", async ({ message, says }) => {
  const finding = await checked("broker", async () => {
    throw new CommandError("error", message);
  });
  expect(finding).toEqual({ name: "broker", status: "failed", message: says });
});
