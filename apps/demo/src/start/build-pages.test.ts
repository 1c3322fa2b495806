import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildPages } from "./build-pages.ts";

/** Files with the second at which each was changed, and what was said and done. */
async function build(files: Readonly<Record<string, number>>, failure?: Error) {
  const folder = await mkdtemp(join(tmpdir(), "pages-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, second] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), "");
    await utimes(join(folder, name), second, second);
  }
  const done: string[] = [];
  const problem = await buildPages((text) => void done.push(text), {
    folder,
    build: () => {
      done.push("built");
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  });
  return { problem, done };
}

const BUILD_MESSAGE = "builds the dashboard's pages, which takes some seconds and is done once";

test.each([
  { name: "missing pages are built", files: { "src/main.tsx": 5 }, done: [BUILD_MESSAGE, "built"] },
  {
    name: "pages older than one of their sources are built",
    files: { "src/main.tsx": 5, "src/fleet/page.tsx": 9, "dist/index.html": 8 },
    done: [BUILD_MESSAGE, "built"],
  },
  { name: "newer pages are left alone", files: { "src/main.tsx": 5, "dist/index.html": 8 }, done: [] },
])("$name", async ({ files, done }) => {
  expect(await build(files)).toEqual({ problem: undefined, done });
});

test("a copy without the dashboard says so", async () => {
  expect(await build({})).toEqual({ problem: "this copy has no dashboard", done: [] });
});

test("a build that fails is reported with the remedy", async () => {
  const { problem } = await build({ "src/main.tsx": 5 }, new Error("no vite"));
  expect(problem).toBe("its pages cannot be built (npm run dashboard:build says why): no vite");
});
