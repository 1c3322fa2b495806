import { stringify } from "yaml";
import { membersOf, type Properties, type Schema } from "./schema.ts";

const WIDTH = 110;
const UNDESCRIBED = new Set(["global"]);

/** values.schema.json: helm refuses what it does not allow. */
export function schemaFile(schema: Schema): string {
  const file = { $schema: "http://json-schema.org/draft-07/schema#", ...schema };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** values.yaml: every value with its default, below what it means. */
export function valuesFile(schema: Schema, source: string): string {
  const head = `# Generated from ${source}. Do not edit: run \`node deploy/generate/main.ts\`.\n`;
  return `${head}${shown(schema.properties ?? {})
    .map(([name, each]) => `\n${entry(name, each, "")}`)
    .join("")}`;
}

/** The values as a table of a README, one row for each. */
export function valuesTable(schema: Schema): string {
  const rows = leaves(schema.properties ?? {}, "").map(
    ([path, { description = "", default: byDefault }]) =>
      `| \`${path}\` | \`${JSON.stringify(byDefault)}\` | ${description.replaceAll("|", "\\|")} |`,
  );
  return ["| Value | Default | Meaning |", "|---|---|---|", ...rows, ""].join("\n");
}

function shown(properties: Properties): (readonly [string, Schema])[] {
  return Object.entries(properties).filter(([name]) => !UNDESCRIBED.has(name));
}

function entry(name: string, schema: Schema, indent: string): string {
  const comment = wrapped(schema.description ?? "", WIDTH - indent.length - 2)
    .map((line) => `${indent}# ${line}\n`)
    .join("");
  const members = membersOf(schema);
  if (members === undefined) return `${comment}${indented({ [name]: schema.default }, indent)}`;
  const inner = shown(members).map(([each, part]) => entry(each, part, `${indent}  `));
  return `${comment}${indent}${name}:\n${inner.join("")}`;
}

function indented(value: object, indent: string): string {
  return stringify(value, { lineWidth: 0 }).replaceAll(/^(?=.)/gm, indent);
}

function leaves(properties: Properties, prefix: string): (readonly [string, Schema])[] {
  return shown(properties).flatMap(([name, schema]) => {
    const members = membersOf(schema);
    return members === undefined
      ? [[`${prefix}${name}`, schema] as const]
      : leaves(members, `${prefix}${name}.`);
  });
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
