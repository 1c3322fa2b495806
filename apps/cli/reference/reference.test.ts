import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { commandsBelow, findEntry, isGroup } from "../src/cli/command.ts";
import { parseInput } from "../src/cli/parse-input.ts";
import { ROOT } from "../src/commands/commands.ts";
import { commandsPage } from "./commands-page.ts";
import { commandsWithSchemaOf, OUTPUT_SCHEMAS, schemaFileOf } from "./output-schemas.ts";

const FOLDER = fileURLToPath(new URL("../../../docs/reference/cli/", import.meta.url));
const commands = commandsBelow(ROOT);

test("the page of commands is what the table says", async () => {
  await expect(commandsPage(ROOT)).toMatchFileSnapshot(`${FOLDER}commands.md`);
});

describe("the schema of", () => {
  test.each(Object.entries(OUTPUT_SCHEMAS))(
    "%s is a JSON Schema, and the file holds it",
    async (path, schema) => {
      expect(() => new Ajv2020({ strict: false, validateFormats: false }).compile(schema)).not.toThrow();
      const document = {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        title: `brokerctl ${commandsWithSchemaOf(path).join(", ")} -o json`,
        ...schema,
      };
      await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(
        `${FOLDER}${schemaFileOf(path)}`,
      );
    },
  );

  test("every command that prints data is there, and no other", async () => {
    const printing = commands
      .filter(({ command }) => "output" in command.options)
      .map(({ words }) => words.join(" "));
    expect(Object.keys(OUTPUT_SCHEMAS).toSorted()).toEqual(printing.toSorted());
    const files = await readdir(FOLDER);
    expect(files.toSorted()).toEqual([...new Set(printing.map(schemaFileOf)), "commands.md"].toSorted());
  });
});

describe("every line that people may copy is a good command line", () => {
  const examples = commands.flatMap(({ command }) => command.examples ?? []);

  test.each(examples.filter((line) => line.startsWith("brokerctl ")))("%s", (line) => {
    expect(() => parsed(line)).not.toThrow();
  });

  test.each(["cli.md", "kubernetes-access.md"])("in docs/%s", async (file) => {
    const page = await readFile(new URL(`../../../docs/${file}`, import.meta.url), "utf8");
    const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gmsu)].map(([, block = ""]) => block);
    const ours = blocks.flatMap((block) => block.match(/^(?:brokerctl|kubectl broker) .*/gmu) ?? []);
    expect(ours).not.toEqual([]);
    for (const line of ours) expect(() => parsed(line)).not.toThrow();
  });
});

/** Reads the line as brokerctl would; runs nothing. */
function parsed(line: string): void {
  const [bare = ""] = line.replace(/^(?:brokerctl|kubectl broker) /u, "").split(/ +[#|>&]/u);
  const words = [...bare.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/gu)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  const { entry, rest } = findEntry(ROOT, words[0] === "help" ? words.slice(1) : words);
  if (isGroup(entry)) expect(rest.filter((word) => !word.startsWith("-"))).toEqual([]);
  else
    parseInput(
      entry,
      rest.filter((word) => word !== "--help"),
      {},
    );
}
