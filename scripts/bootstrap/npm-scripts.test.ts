import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

it.each(Object.entries(scripts).filter(([, line]) => /bootstrap\.mjs &&/.test(line)))(
  "%s looks for node anew after the bootstrap may have installed it: a shell remembers where it was",
  (_, line) => expect(line).toMatch(/bootstrap\.mjs && hash -r &&/),
);
