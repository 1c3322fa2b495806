const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/u;
const KEY = /^[-._a-zA-Z0-9]+$/u;

/** Why a text is no DNS label; undefined if it is one. */
export function labelProblem(name: string): string | undefined {
  if (name.length > 63) return "must be no more than 63 characters";
  if (LABEL.test(name)) return undefined;
  return (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start " +
    "and end with an alphanumeric character"
  );
}

/** Why a text is no key of a config map or secret; undefined if it is one. */
export function keyProblem(key: string): string | undefined {
  if (key.length > 253) return "must be no more than 253 characters";
  if (KEY.test(key) && key !== "." && key !== "..") return undefined;
  return "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
}
