import type { SyntaxProblem } from "./ast.ts";

/** Leaves the recursion of the parser or of the compiler; `compileExpression` turns it into a value. */
export class Uncompilable extends Error {
  override readonly name = "Uncompilable";
  readonly problem: SyntaxProblem;

  constructor(at: number, problem: string) {
    super(problem);
    this.problem = { at, problem };
  }
}

/** The problem with its place in the source, as Kubernetes shows it. */
export function problemText(source: string, { at, problem }: SyntaxProblem): string {
  const before = source.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  const [shown = ""] = source.slice(lineStart).split("\n");
  const column = Array.from(source.slice(lineStart, at)).length;
  const dots = Array.from(source.slice(lineStart, at), (character) =>
    isWide(character) ? "\uff0e" : ".",
  ).join("");
  const pointed = Array.from(source.slice(at, at + 2))[0] ?? "";
  const mark = isWide(pointed) ? "\uff3e" : "^";
  const text = shown.replaceAll("\t", " ");
  return `ERROR: <input>:${line}:${column + 1}: ${problem}\n | ${text}\n | ${dots}${mark}`;
}

function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f;
}
