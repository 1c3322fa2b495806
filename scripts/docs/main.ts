/** `npm run check:docs`: every link in the Markdown files leads somewhere, and every command shown there exists. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { staleCommands } from "./commands.ts";
import { knownIn } from "./known.ts";
import { brokenLinks } from "./links.ts";
import { readPage } from "./markdown.ts";

const root = join(import.meta.dirname, "../..");
const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
});
const pages = listed
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)))
  .map((path) => readPage(path, readFileSync(join(root, path), "utf8")));
const known = knownIn(root);
const problems = [...brokenLinks(pages, known.exists), ...staleCommands(pages, known)];
for (const problem of problems) console.error(problem);
const links = pages.reduce((sum, page) => sum + page.links.length, 0);
console.log(`${pages.length} pages, ${links} links: ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
