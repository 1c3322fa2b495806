import { parseArgs } from "node:util";

export type Flags<Name extends string> =
  | {
      readonly ok: true;
      readonly numbers: Readonly<Partial<Record<Name, number>>>;
      readonly isRecorded: boolean;
    }
  | { readonly ok: false; readonly problem: string };

/** Reads the flags of a campaign: numbers above zero, each with its default, and `--record`. */
export function readFlags<Name extends string>(
  argv: readonly string[],
  defaults: readonly (readonly [Name, number?])[],
): Flags<Name> {
  const options: Record<string, { type: "string" | "boolean" }> = { record: { type: "boolean" } };
  for (const [name] of defaults) options[name] = { type: "string" };
  try {
    const { values } = parseArgs({ args: [...argv], options });
    const numbers: Partial<Record<Name, number>> = {};
    for (const [name, otherwise] of defaults) {
      const number = values[name] === undefined ? otherwise : Number(values[name]);
      if (number === undefined) continue;
      if (!Number.isFinite(number) || number <= 0)
        return { ok: false, problem: `--${name} must be a number above 0` };
      numbers[name] = number;
    }
    return { ok: true, numbers, isRecorded: values["record"] === true };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
