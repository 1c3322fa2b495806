import { CommandError } from "./exit-code.ts";

export type Labels = Readonly<Record<string, string>>;

/** `tier=gold,zone=a` as labels; what has no `=` is a mistake. */
export function readLabels(option: string, texts: readonly string[]): Labels {
  const pairs = texts.map((text) => {
    const [, key, value] = /^([^=!]+)==?(.*)$/u.exec(text) ?? [];
    if (key !== undefined && value !== undefined) return [key, value] as const;
    throw new CommandError("usage", `--${option} ${JSON.stringify(text)}: write it like key=value`);
  });
  return Object.fromEntries(pairs);
}
