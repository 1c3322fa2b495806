import type { ResourceDefinition } from "./cluster-api.ts";

/** What a name may look like, and what is said of one that does not. */
interface NameRule {
  readonly pattern: RegExp;
  readonly most: number;
  readonly words: string;
}

function nameRule(most: number, source: string, words: string): NameRule {
  const pattern = new RegExp(`^${source}$`, "u");
  return { pattern, most, words: `${words}, regex used for validation is '${source}')` };
}

const ENDS = "and must start and end with an alphanumeric character";
const WORD = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const WORD_LETTERS = "alphanumeric characters, '-', '_' or '.'";

const SUBDOMAIN = nameRule(
  253,
  "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
  `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${ENDS} (e.g. 'example.com'`,
);
const LABEL = nameRule(
  63,
  "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
  `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${ENDS} (e.g. 'my-name',  or '123-abc'`,
);
const QUALIFIED_NAME = nameRule(
  63,
  WORD,
  `must consist of ${WORD_LETTERS}, ${ENDS} (e.g. 'MyName',  or 'my.name',  or '123-abc'`,
);
const LABEL_VALUE = nameRule(
  63,
  `(${WORD})?`,
  `a valid label must be an empty string or consist of ${WORD_LETTERS}, ${ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345'`,
);

/** What is wrong with it, mostly nothing. */
export function nameProblems({ group, plural }: ResourceDefinition, name: string): readonly string[] {
  return problemsOf(group === "" && plural === "namespaces" ? LABEL : SUBDOMAIN, name);
}

export function labelValueProblems(value: string): readonly string[] {
  return problemsOf(LABEL_VALUE, value);
}

/** `app`, `example.com/app`. */
export function qualifiedNameProblems(text: string): readonly string[] {
  const [name = "", prefix, ...more] = text.split("/").toReversed();
  if (more.length > 0) {
    const suffix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a qualified name ${QUALIFIED_NAME.words} ${suffix}`];
  }
  const problems =
    name === "" ? ["must be non-empty", QUALIFIED_NAME.words] : problemsOf(QUALIFIED_NAME, name);
  return [...prefixProblems(prefix), ...problems.map((problem) => `name part ${problem}`)];
}

function prefixProblems(prefix: string | undefined): readonly string[] {
  if (prefix === undefined) return [];
  const problems = prefix === "" ? ["must be non-empty"] : problemsOf(SUBDOMAIN, prefix);
  return problems.map((problem) => `prefix part ${problem}`);
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
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/u, "$1-$2-$3-$4-");
}
