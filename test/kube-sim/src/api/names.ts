import type { ResourceDefinition } from "./definition.ts";

/** What a name may look like, and what is said of one that does not. */
interface NameRule {
  readonly pattern: RegExp;
  readonly most: number;
  readonly words: string;
}

const SUBDOMAIN: NameRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  most: 253,
  words:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
};

const LABEL: NameRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  most: 63,
  words:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
};

const DNS_1035_LABEL: NameRule = {
  pattern: /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  most: 63,
  words:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
};

const QUALIFIED_NAME: NameRule = {
  pattern: /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/,
  most: 63,
  words:
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
};

const LABEL_VALUE: NameRule = {
  pattern: /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  most: 63,
  words:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
};

/** What is wrong with it, mostly nothing. */
export function nameProblems({ group, plural }: ResourceDefinition, name: string): readonly string[] {
  if (group === "" && plural === "namespaces") return problemsOf(LABEL, name);
  return problemsOf(group === "" && plural === "services" ? DNS_1035_LABEL : SUBDOMAIN, name);
}

export function labelValueProblems(value: string): readonly string[] {
  return problemsOf(LABEL_VALUE, value);
}

/** `app`, `example.com/app`. */
export function qualifiedNameProblems(text: string): readonly string[] {
  const parts = text.split("/");
  const [first, second] = parts;
  if (first === undefined || parts.length > 2) return [`a qualified name ${afterFirstWords()}`];
  if (second === undefined) return partProblems(first);
  return [...prefixProblems(first), ...partProblems(second)];
}

function afterFirstWords(): string {
  return QUALIFIED_NAME.words
    .replace("name part ", "")
    .replace(/\)$/, ") with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
}

function prefixProblems(prefix: string): readonly string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  return problemsOf(SUBDOMAIN, prefix).map((problem) => `prefix part ${problem}`);
}

function partProblems(part: string): readonly string[] {
  if (part === "") return ["name part must be non-empty", QUALIFIED_NAME.words];
  const tooLong = part.length > QUALIFIED_NAME.most ? ["name part must be no more than 63 characters"] : [];
  return QUALIFIED_NAME.pattern.test(part) ? tooLong : [...tooLong, QUALIFIED_NAME.words];
}

function problemsOf({ pattern, most, words }: NameRule, text: string): readonly string[] {
  const tooLong = text.length > most ? [`must be no more than ${most} characters`] : [];
  return pattern.test(text) ? tooLong : [...tooLong, words];
}

/** Without vowels and their look-alikes, so that no word comes out. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const LONGEST_BASE = 63 - SUFFIX_LENGTH;

export function generatedName(base: string, randomBytes: (size: number) => Uint8Array): string {
  const suffix = [...randomBytes(SUFFIX_LENGTH)].map((byte) => SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]);
  return base.slice(0, LONGEST_BASE) + suffix.join("");
}

/** A random UUID (version 4). */
export function newUid(randomBytes: (size: number) => Uint8Array): string {
  const bytes = Buffer.from(randomBytes(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
