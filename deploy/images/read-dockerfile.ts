export interface Instruction {
  readonly keyword: string;
  /** What follows its flags, with line breaks joined and build arguments replaced. */
  readonly value: string;
}

export interface Stage {
  readonly name: string;
  /** The image or stage it starts from. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

const FLAGS = /^(?:--[a-z]+(?:=\S+)?\s+)*/;
const VARIABLE = /\$\{(\w+)\}|\$(\w+)/g;

/** The stages of a Dockerfile, with the defaults of its build arguments in place. What it does not have by default stays. */
export function readDockerfile(text: string): Stage[] {
  const args = new Map<string, string>();
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const line of logicalLines(text)) {
    const instruction = readInstruction(line, args);
    const { keyword, value } = instruction;
    if (keyword === "ARG") rememberArgument(args, value);
    if (keyword === "FROM") stages.push({ ...startOf(value), instructions: [] });
    stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** All that a stage has, from the first instruction of the stage that it starts from. */
export function wholeStage(stages: readonly Stage[], name: string): Instruction[] {
  const stage = stages.find((each) => each.name === name);
  if (stage === undefined) return [];
  return [...wholeStage(stages, stage.from), ...stage.instructions];
}

function logicalLines(text: string): string[] {
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  return lines
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function readInstruction(line: string, args: ReadonlyMap<string, string>): Instruction {
  const [keyword = ""] = line.split(/\s/, 1);
  const rest = line.slice(keyword.length).trim().replace(FLAGS, "");
  const value = rest.replaceAll(
    VARIABLE,
    (variable, braced: string | undefined, bare: string | undefined) =>
      args.get(braced ?? bare ?? "") ?? variable,
  );
  return { keyword, value };
}

function rememberArgument(args: Map<string, string>, value: string): void {
  const [name = "", fallback] = value.split("=", 2);
  if (fallback !== undefined) args.set(name, fallback.replaceAll('"', ""));
}

function startOf(value: string): { name: string; from: string } {
  const [from = "", , name = ""] = value.split(/\s+/);
  return { name, from };
}
