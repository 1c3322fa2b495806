import { describe, expect, test } from "vitest";
import { filesIn, RULES, read } from "./testing/sources.ts";

const FOLDER = "docs/runbooks";
const LIST = "README.md";
const HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation"];
const pages = filesIn(FOLDER, ".md").filter((name) => name !== LIST);

// The commands in them are checked with those of all documents: npm run check:docs.
describe("runbooks", () => {
  test("every alert has one, and every one has an alert", () => {
    expect(new Set(pages)).toEqual(new Set(RULES.map(({ alert }) => `${alert}.md`)));
  });

  test("the list names each", () => {
    const list = read(`${FOLDER}/${LIST}`);
    for (const page of pages) expect(list).toContain(`| [${page.replace(".md", "")}](${page}) |`);
  });

  test.each(pages)("%s answers every question", (page) => {
    const lines = read(`${FOLDER}/${page}`).split("\n");
    expect(lines[0]).toBe(`# ${page.replace(".md", "")}`);
    expect(lines.filter((line) => line.startsWith("## "))).toEqual(HEADINGS.map((each) => `## ${each}`));
  });
});
