interface Answer {
  readonly oracle: string;
  readonly messages: Readonly<Record<string, readonly Field[]>>;
}

interface Field {
  readonly number: number;
  readonly name: string;
  readonly kind: string;
  readonly message?: string;
  readonly repeated?: boolean;
  readonly always?: boolean;
  readonly inline?: boolean;
}

/** Go's answer as a module of TypeScript. */
export function renderTables(text: string): string {
  const answer: unknown = JSON.parse(text);
  if (!isAnswer(answer)) throw new Error("the Go program answers another question");
  const { oracle, messages } = answer;
  const tables = Object.entries(messages).map(
    ([message, fields]) => `  ${message}: [\n${fields.map(renderField).join("")}  ],\n`,
  );
  return [
    `// Written by tools/protobuf-tables (npm run oracle:protobuf): change that, not this.\n`,
    `import type { MessageTable } from "./message-tables.ts";\n\n`,
    `// From ${oracle}.\n`,
    `/** Every message that the built-in kinds of kube-sim, a list of them or a Status can contain. */\n`,
    `export const MESSAGES: Readonly<Record<string, MessageTable>> = {\n`,
    ...tables,
    `};\n`,
  ].join("");
}

function renderField({ number, name, kind, message, repeated, always, inline }: Field): string {
  const parts = [
    `number: ${number}`,
    `name: ${JSON.stringify(name)}`,
    `kind: ${JSON.stringify(kind)}`,
    ...(message === undefined ? [] : [`message: ${JSON.stringify(message)}`]),
    ...(repeated === true ? ["isRepeated: true"] : []),
    ...(always === true ? ["isAlways: true"] : []),
    ...(inline === true ? ["isInline: true"] : []),
  ];
  return `    { ${parts.join(", ")} },\n`;
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && "messages" in value;
}
