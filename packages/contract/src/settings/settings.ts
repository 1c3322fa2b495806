import { parseDuration } from "../schema/duration.ts";
import type { Reading, Setting } from "./setting.ts";

interface About<T> {
  readonly description: string;
  readonly defaultValue: T;
  readonly placeholder?: string;
}

export function text(about: About<string>): Setting<string> {
  return {
    kind: "text",
    placeholder: "TEXT",
    ...about,
    defaultText: about.defaultValue,
    read: (given) => ({ ok: true, value: given }),
  };
}

export function toggle(about: About<boolean>): Setting<boolean> {
  return {
    kind: "switch",
    placeholder: "",
    ...about,
    defaultText: String(about.defaultValue),
    read: (given) => {
      if (given === "true" || given === "") return { ok: true, value: true };
      if (given === "false") return { ok: true, value: false };
      return wrong(given, "is neither true nor false");
    },
  };
}

export function integer(
  about: About<number> & { readonly minimum: number; readonly maximum: number },
): Setting<number> {
  const { minimum, maximum, ...rest } = about;
  return {
    kind: "integer",
    placeholder: "N",
    ...rest,
    defaultText: String(about.defaultValue),
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
  about: Omit<About<number>, "defaultValue"> & { readonly defaultText: string },
): Setting<number> {
  return {
    kind: "duration",
    placeholder: "DURATION",
    ...about,
    defaultValue: durationOf(about.defaultText),
    read: (given) => {
      const parsed = parseDuration(given);
      return parsed.ok ? { ok: true, value: parsed.ms } : { ok: false, problem: parsed.problem };
    },
  };
}

export function choice<const T extends string>(
  about: About<T> & { readonly choices: readonly T[] },
): Setting<T> {
  const { choices, ...rest } = about;
  return {
    kind: "choice",
    placeholder: choices.join("|"),
    ...rest,
    defaultText: about.defaultValue,
    read: (given) => {
      const value = choices.find((each) => each === given);
      return value === undefined ? wrong(given, `is not one of ${choices.join(", ")}`) : { ok: true, value };
    },
  };
}

/** Several words, separated by commas. */
export function list(about: About<readonly string[]>): Setting<readonly string[]> {
  return {
    kind: "list",
    placeholder: "A,B",
    ...about,
    defaultText: about.defaultValue.join(","),
    read: (given) => ({
      ok: true,
      value: given
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    }),
  };
}

function wrong(given: string, why: string): Reading<never> {
  return { ok: false, problem: `${JSON.stringify(given)} ${why}` };
}

function durationOf(given: string): number {
  const parsed = parseDuration(given);
  if (!parsed.ok) throw new Error(`default ${given}: ${parsed.problem}`);
  return parsed.ms;
}
