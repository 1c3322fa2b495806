/** Where a program says what it does. One line each: fields for machines, a message for people. */
export interface Log {
  readonly info: (fields: LogFields, message: string) => void;
  readonly warn: (fields: LogFields, message: string) => void;
  readonly error: (fields: LogFields, message: string) => void;
}

export type LogFields = Readonly<Record<string, unknown>>;
