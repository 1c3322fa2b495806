import { parseDuration } from "../duration.ts";

interface SettingOptions<T> {
  readonly description: string;
  readonly defaultValue: T;
  readonly placeholder?: string;
}

export function text(options: SettingOptions<string>): Setting<string> {
  return {
    kind: "text",
    placeholder: "TEXT",
    ...options,
    defaultText: options.defaultValue,
    read: (given) => ({ ok: true, value: given }),
  };
}

export function toggle(options: SettingOptions<boolean>): Setting<boolean> {
  return {
    kind: "switch",
    placeholder: "",
    ...options,
    defaultText: String(options.defaultValue),
    read: (given) => {
      if (given === "true" || given === "") return { ok: true, value: true };
      if (given === "false") return { ok: true, value: false };
      return wrong(given, "is neither true nor false");
    },
  };
}

export function integer(
  options: SettingOptions<number> & { readonly minimum: number; readonly maximum: number },
): Setting<number> {
  const { minimum, maximum, ...rest } = options;
  return {
    kind: "integer",
    placeholder: "N",
    ...rest,
    defaultText: String(options.defaultValue),
    read: (given) => {
      const value = Number(given);
      const isRight = /^\d{1,15}$/.test(given) && value >= minimum && value <= maximum;
      return isRight
        ? { ok: true, value }
        : wrong(given, `is not a whole number from ${minimum} to ${maximum}`);
    },
  };
}

/** A duration as Go writes it; the value is in milliseconds. */
export function duration(
  options: Omit<SettingOptions<number>, "defaultValue"> & { readonly defaultText: string },
): Setting<number> {
  return {
    kind: "duration",
    placeholder: "DURATION",
    ...options,
    defaultValue: durationOf(options.defaultText),
    read: (given) => {
      const parsed = parseDuration(given);
      return parsed.ok ? { ok: true, value: parsed.ms } : { ok: false, problem: parsed.problem };
    },
  };
}

export function choice<const T extends string>(
  options: SettingOptions<T> & { readonly choices: readonly T[] },
): Setting<T> {
  const { choices, ...rest } = options;
  return {
    kind: "choice",
    placeholder: choices.join("|"),
    ...rest,
    defaultText: options.defaultValue,
    read: (given) => {
      const value = choices.find((each) => each === given);
      return value === undefined ? wrong(given, `is not one of ${choices.join(", ")}`) : { ok: true, value };
    },
  };
}

/** Several words, separated by commas. */
export function list(options: SettingOptions<readonly string[]>): Setting<readonly string[]> {
  return {
    kind: "list",
    placeholder: "A,B",
    ...options,
    defaultText: options.defaultValue.join(","),
    read: (given) => ({
      ok: true,
      value: given
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    }),
  };
}

function wrong(given: string, why: string): SettingResult<never> {
  return { ok: false, problem: `${JSON.stringify(given)} ${why}` };
}

function durationOf(given: string): number {
  const parsed = parseDuration(given);
  if (!parsed.ok) throw new Error(`default ${given}: ${parsed.problem}`);
  return parsed.ms;
}

/** A setting by flag, environment variable or file. One table generates the parser, the help and the reference. */
export interface Setting<T> {
  readonly kind: "text" | "switch" | "integer" | "duration" | "choice" | "list";
  readonly description: string;
  /** Shown in the help in place of the value. */
  readonly placeholder: string;
  readonly defaultText: string;
  readonly defaultValue: T;
  /** Turns the text given into the value, or says what is wrong with it. */
  readonly read: (text: string) => SettingResult<T>;
}

export type SettingResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** Settings by flag name, without the leading dashes. */
export type SettingsTable = Readonly<Record<string, Setting<unknown>>>;

export type Values<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};
