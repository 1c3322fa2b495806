const SPECIAL = /[.+?^${}()|[\]\\]/g;

interface Rule {
  readonly isKept: boolean;
  readonly pattern: RegExp;
}

/** Whether a file, by its path from the root, is sent to the builder: the last rule of .dockerignore that fits decides. */
export function buildContext(dockerignore: string): (path: string) => boolean {
  const rules = dockerignore
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(ruleOf);
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.isKept ?? true;
}

function ruleOf(line: string): Rule {
  const isKept = line.startsWith("!");
  const parts = (isKept ? line.slice(1) : line).split(/(\*\*\/|\*)/).map((part) => {
    if (part === "**/") return "(?:.*/)?";
    return part === "*" ? "[^/]*" : part.replaceAll(SPECIAL, "\\$&");
  });
  // What is below a folder goes as the folder does.
  return { isKept, pattern: new RegExp(`^${parts.join("")}(?:/.*)?$`) };
}
