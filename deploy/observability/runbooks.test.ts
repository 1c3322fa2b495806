import { describe, expect, test } from "vitest";
import { filesIn, RULES, read } from "./testing/sources.ts";

const FOLDER = "docs/runbooks";
const LIST = "README.md";
const HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation"];
const pages = filesIn(FOLDER, ".md").filter((name) => name !== LIST);

/** What the reference says of brokerctl, command by command; it is made from the program itself. */
const COMMANDS = read("docs/reference/cli/commands.md")
  .split(/^## /m)
  .map((section) => ({ heading: section.split("\n")[0] ?? "", section }));

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

  test.each(commandLines())("%s: %s can be typed", (_, line) => {
    const words = line.replace(/^brokerctl /, "");
    const command = COMMANDS.find(({ heading }) => `${words} `.startsWith(`${heading} `));
    expect(command).toBeDefined();
    const options = [...line.matchAll(/ (--?[a-zA-Z][\w-]*)/g)].map(([, option = ""]) => option);
    const known = command?.section.match(/-[\w-]+/g);
    expect(options.filter((option) => known?.includes(option) !== true)).toEqual([]);
  });

  test("there are commands to be compared with the program", () => {
    expect(commandLines().length).toBeGreaterThan(40);
  });
});

/** Every call of brokerctl: lines of blocks, and code in the text, which may be broken into lines. */
function commandLines(): (readonly [page: string, line: string])[] {
  return pages.flatMap((page) => {
    const parts = read(`${FOLDER}/${page}`).split(/^```.*$/m);
    const lines = parts.flatMap((part, index) =>
      index % 2 === 1
        ? part.split("\n")
        : [...part.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " ")),
    );
    const calls = lines.filter((line) => line.startsWith("brokerctl "));
    return calls.map((line) => [page, line.replace(/ +#.*$/, "")] as const);
  });
}
