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
