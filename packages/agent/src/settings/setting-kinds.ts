import type { Setting, SettingResult } from "@resource-broker/contract";

interface About {
  readonly description: string;
  readonly placeholder: string;
  readonly defaultText?: string;
}

/** Text that `problem` checks. An empty value is always allowed: the default. */
export function checkedText(about: About, problem: (text: string) => string | undefined): Setting<string> {
  const { defaultText = "" } = about;
  return {
    kind: "text",
    ...about,
    defaultText,
    defaultValue: defaultText,
    read: (text) => {
      const wrong = text === "" ? undefined : problem(text);
      return wrong === undefined ? { ok: true, value: text } : { ok: false, problem: wrong };
    },
  };
}

/** Values with commas between them. */
export function listOf<T>(
  about: About & { readonly defaultValue?: readonly T[] },
  read: (word: string) => SettingResult<T>,
): Setting<readonly T[]> {
  const { defaultText = "", defaultValue = [], ...rest } = about;
  return { kind: "list", ...rest, defaultText, defaultValue, read: (text) => readWords(text, read) };
}

function readWords<T>(text: string, read: (word: string) => SettingResult<T>): SettingResult<readonly T[]> {
  const values: T[] = [];
  for (const word of text.split(",").map((each) => each.trim())) {
    if (word === "") continue;
    const reading = read(word);
    if (!reading.ok) return reading;
    values.push(reading.value);
  }
  return { ok: true, value: values };
}
