import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readStaticFiles } from "./static-files.ts";

test("without pages the dashboard says how to build them", async () => {
  const empty = mkdtempSync(join(tmpdir(), "pages-"));
  onTestFinished(() => rmSync(empty, { recursive: true }));
  await expect(readStaticFiles([join(empty, "missing"), empty])).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining(
      "--dashboard-bind-address: the dashboard's pages are not built; build them",
    ),
  });
});
