import { expect, test } from "vitest";
import { type Known, staleCommands } from "./commands.ts";
import { brokenLinks } from "./links.ts";
import { readPage } from "./markdown.ts";

const FILES = new Set(["docs/a.md", "docs/b.md", "deploy/crds", "apps/cli/bin/x.mjs"]);
const exists = (path: string): boolean => FILES.has(path);

const KNOWN: Known = {
  scripts: new Set(["start", "test", "broker", "check"]),
  makeTargets: new Set(["build", "image-"]),
  flagsOf: (script) => (script === "check" ? undefined : new Set(["port"])),
  brokerctl: new Map([
    ["get clusters", new Set(["context"])],
    ["quote", new Set(["cpu", "o"])],
  ]),
  exists,
};

const page = (text: string, path = "docs/a.md") => readPage(path, text);

test.each([
  ["a file that is there", "[b](b.md)", []],
  ["a file that is not", "[c](c.md)", ["docs/a.md:1: there is no docs/c.md"]],
  ["a heading of another page", "[b](b.md#the-way-of-b)", []],
  [
    "a heading that is not there",
    "[b](b.md#nowhere)",
    ["docs/a.md:1: docs/b.md has no heading for #nowhere"],
  ],
  ["a heading of the same page", "# Here, and `there`\n[up](#here-and-there)", []],
  ["the second of two equal headings", "# One\n# One\n[two](#one-1)", []],
  ["a place outside", "[x](../../x.md)", ["docs/a.md:1: ../../x.md leads out of the repository"]],
  ["the web", "[x](https://example.org/nothing)", []],
  ["an image", '<img src="gone.png">', ["docs/a.md:1: there is no docs/gone.png"]],
  ["a reference", "[x]: gone.md", ["docs/a.md:1: there is no docs/gone.md"]],
  ["what stands in code", "`[c](c.md)`\n```\n[c](c.md)\n```", []],
])("a link to %s", (_, text, problems) => {
  const other = readPage("docs/b.md", "## The way of B");
  expect(brokenLinks([page(text), other], exists)).toEqual(problems);
});

const sh = (line: string): string => `\`\`\`sh\n${line}\n\`\`\``;

test.each([
  ["a script that is there", sh("npm run broker -- --port=1"), []],
  ["a script that is not", sh("npm run brokr"), ["docs/a.md:2: there is no npm script brokr"]],
  ["a flag that is not", sh("npm start -- --prt 1"), ["docs/a.md:2: npm run start has no flag --prt"]],
  ["a program with flags of its own", sh("npm run check -- --any"), []],
  ["a line that goes on", sh("npm start -- \\\n  --prt"), ["docs/a.md:2: npm run start has no flag --prt"]],
  ["the second of two commands", sh("cd x && npm run no"), ["docs/a.md:2: there is no npm script no"]],
  ["a comment", sh("true # npm run no"), []],
  ["a variable in front", sh("A=b npm run no"), ["docs/a.md:2: there is no npm script no"]],
  ["brokerctl", sh("brokerctl get clusters --context x"), []],
  ["brokerctl's flags", sh("kubectl broker quote --cp 1"), ["docs/a.md:2: brokerctl quote has no flag --cp"]],
  ["brokerctl's commands", "`brokerctl get cluster`", ["docs/a.md:1: brokerctl has no command get cluster"]],
  ["a flag of one letter", sh("brokerctl quote -o x -p"), ["docs/a.md:2: brokerctl quote has no flag -p"]],
  [
    "code that is broken into lines",
    "Run `brokerctl get\ncluster`.",
    ["docs/a.md:1: brokerctl has no command get cluster"],
  ],
  ["a group of commands", "`brokerctl get`", []],
  ["a target that is not there", sh("make biuld"), ["docs/a.md:2: the Makefile has no target biuld"]],
  ["a target that is", sh("make build"), []],
  ["files that are there", sh("kubectl apply -f deploy/crds"), []],
  ["files that are not", sh("kubectl apply -f deploy/crd"), ["docs/a.md:2: there is no deploy/crd"]],
  ["a Deployment, which is no file", sh("kubectl logs deploy/agent"), []],
  ["a target by its pattern", sh("make image-broker"), []],
  ["what a console answers", "```console\n$ npm run broker\nnpm run no\n```", []],
  ["what is only shown", "```text\nnpm run no\n```", []],
])("a command line with %s", (_, text, problems) => {
  expect(staleCommands([page(text)], KNOWN)).toEqual(problems);
});

test("a package's page may name files as they are seen from there", () => {
  expect(staleCommands([page(sh("node bin/x.mjs"), "apps/cli/README.md")], KNOWN)).toEqual([]);
});
