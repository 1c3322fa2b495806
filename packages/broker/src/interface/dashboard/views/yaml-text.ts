/** A Kubernetes object as `kubectl get -o yaml` lays it out. What YAML could misread is quoted as JSON, which it reads alike. */
export function yamlText(value: object): string {
  return `${linesOf(value).join("\n")}\n`;
}

function linesOf(value: object): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      const [first = "{}", ...rest] = isFilled(item) ? linesOf(item) : [scalarText(item)];
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    if (inner === undefined) return [];
    const key = plainOrQuoted(name);
    if (!isFilled(inner)) return [`${key}: ${scalarText(inner)}`];
    const indent = Array.isArray(inner) ? "" : "  ";
    return [`${key}:`, ...linesOf(inner).map((line) => `${indent}${line}`)];
  });
}

function isFilled(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function scalarText(value: unknown): string {
  return typeof value === "string" ? plainOrQuoted(value) : JSON.stringify(value);
}

/** Letters at the start, so that no number, date or sign is met; and none of the words that YAML takes for others. */
const PLAIN = /^[A-Za-z][\w./-]*(?: [\w./-]+)*$/;
const OTHER_MEANING = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

function plainOrQuoted(text: string): string {
  return PLAIN.test(text) && !OTHER_MEANING.test(text) ? text : JSON.stringify(text);
}
