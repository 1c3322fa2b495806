import { describe, expect, test } from "vitest";
import { folderInOutput } from "./pinned-module.ts";

const MODULE = { path: "example.com/thing", version: "v1.2.3", sum: "h1:pinned" };

describe("a module", () => {
  test("is found where Go says", () => {
    expect(folderInOutput(MODULE, JSON.stringify({ Dir: "/mod/x", Sum: MODULE.sum }))).toBe("/mod/x");
  });

  test("with another checksum is not taken", () => {
    const output = JSON.stringify({ Dir: "/mod/x", Sum: "h1:other" });
    expect(() => folderInOutput(MODULE, output)).toThrow(`has the checksum h1:other, not ${MODULE.sum}`);
  });

  test("that Go does not have is named with Go's words", () => {
    expect(() => folderInOutput(MODULE, '{"Error": "not found"}')).toThrow(
      /thing is: \{"Error": "not found"\}/,
    );
  });
});
