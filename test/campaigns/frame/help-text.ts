export type Flag = number | string | boolean;

/** Of every campaign. */
export const SWITCHES = { record: false, help: false } as const;

const COMMENT = /^\/\*\*\n([^]*?)\n \*\/\n/;

/** The comment at the top of a program, and its flags with their defaults. A seed that is not stated differs from run to run. */
export function helpText(source: string, defaults: Readonly<Record<string, Flag>>): string {
  const comment = COMMENT.exec(source)?.[1] ?? "";
  const about = comment.replaceAll(/^ \* ?/gm, "").replaceAll("`", "");
  const flags = Object.entries({ ...defaults, ...SWITCHES }).map(flagLine);
  return [about, "", ...flags].join("\n");
}

function flagLine([name, value]: readonly [string, Flag]): string {
  if (typeof value === "boolean") return `  --${name}`;
  const isStated = name !== "seed" && value !== "" && value !== Number.POSITIVE_INFINITY;
  return `  --${name} ${typeof value === "number" ? "N" : "TEXT"}${isStated ? ` (default ${value})` : ""}`;
}
