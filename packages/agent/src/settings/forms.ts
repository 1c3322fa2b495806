import { parseToleratedTaint, type ToleratedTaint } from "@resource-broker/accounting";
import { isNamespaceName, NAMED_RESOURCES, type Setting, type SettingResult } from "@resource-broker/base";
import { CLUSTER_ID_FORM, DNS_SUBDOMAIN, isClusterId } from "@resource-broker/domain";

/** The forms of flag values; each function returns the problem and how to write it. */

const OBJECT_NAME = new RegExp(`^${DNS_SUBDOMAIN}$`, "u");
const OBJECT_NAME_MAX = 253;
const DISPLAY_NAME_MAX = 253;
/** A domain is required, so that names cannot be confused with built-in resources. */
const LABEL_PART = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const EXTENDED_RESOURCE = new RegExp(`^${DNS_SUBDOMAIN}/${LABEL_PART}$`, "u");
const EXTENDED_RESOURCE_MAX = 317;
const CLUSTER_LABEL = new RegExp(
  `^((?:(?=[^/]{1,253}/)${DNS_SUBDOMAIN}/)?${LABEL_PART})=(${LABEL_PART})?$`,
  "u",
);

export function clusterIdProblem(text: string): string | undefined {
  if (isClusterId(text)) return undefined;
  return `${JSON.stringify(text)} is not a cluster ID: use ${CLUSTER_ID_FORM}`;
}

export function namespaceProblem(text: string): string | undefined {
  if (isNamespaceName(text)) return undefined;
  return `${JSON.stringify(text)} is not a namespace: use lower-case letters, digits and "-", at most 63 of them`;
}

export function objectNameProblem(text: string): string | undefined {
  if (isObjectName(text)) return undefined;
  return `${JSON.stringify(text)} is not the name of an object: use lower-case letters, digits, "-" and "."`;
}

export function configMapProblem(text: string): string | undefined {
  const [namespace = "", name = "", ...rest] = text.split("/");
  if (rest.length === 0 && isNamespaceName(namespace) && isObjectName(name)) return undefined;
  return `${JSON.stringify(text)} does not name a ConfigMap: write namespace/name`;
}

export function secretProblem(text: string): string | undefined {
  const [name = "", namespace, ...rest] = text.split("/").reverse();
  const isNamespace = namespace === undefined || isNamespaceName(namespace);
  if (rest.length === 0 && isNamespace && isObjectName(name)) return undefined;
  return `${JSON.stringify(text)} does not name a Secret: write name or namespace/name`;
}

/** Reads `namespace/name`. */
export function secretName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = text.split("/");
  return { namespace, name };
}

export function displayNameProblem(text: string): string | undefined {
  if (text.length <= DISPLAY_NAME_MAX && !/\p{Cc}/u.test(text)) return undefined;
  return `use one line of at most ${DISPLAY_NAME_MAX} characters`;
}

/** An https URL without parts that would have to be removed. */
export function endpointProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWhole = url !== undefined && url.username === "" && url.password === "";
  if (isWhole && url.protocol === "https:" && url.search === "" && url.hash === "") return undefined;
  return `${JSON.stringify(text)} is not the address of an API server: write it like https://10.0.0.7:6443`;
}

export function readExtendedResource(word: string): SettingResult<string> {
  const isKnown = NAMED_RESOURCES.some(({ name }) => name === word);
  if (isKnown || (word.length <= EXTENDED_RESOURCE_MAX && EXTENDED_RESOURCE.test(word)))
    return { ok: true, value: word };
  return {
    ok: false,
    problem: `${JSON.stringify(word)} is not an extended resource: write its domain and name, like amd.com/gpu`,
  };
}

export function readToleratedTaint(word: string): SettingResult<ToleratedTaint> {
  const parsed = parseToleratedTaint(word);
  return parsed.ok ? { ok: true, value: parsed.taint } : parsed;
}

export interface ClusterLabel {
  readonly name: string;
  readonly value: string;
}

export function readClusterLabel(word: string): SettingResult<ClusterLabel> {
  const [, name, value = ""] = CLUSTER_LABEL.exec(word) ?? [];
  if (name !== undefined) return { ok: true, value: { name, value } };
  return {
    ok: false,
    problem: `${JSON.stringify(word)} is not a label: write name=value, like tier=gold or example.com/site=north`,
  };
}

function isObjectName(text: string): boolean {
  return text.length <= OBJECT_NAME_MAX && OBJECT_NAME.test(text);
}

interface WordOptions {
  /** Absent: empty. */
  readonly defaultText?: string;
  /** Returns the problem of a value. An empty value is always allowed: the default. */
  readonly check?: (text: string) => string | undefined;
}

/** A flag with text. */
export function word(
  placeholder: string,
  description: string,
  { defaultText = "", check = () => undefined }: WordOptions = {},
): Setting<string> {
  return {
    kind: "text",
    placeholder,
    description,
    defaultText,
    defaultValue: defaultText,
    read: (text) => {
      const problem = text === "" ? undefined : check(text);
      return problem === undefined ? { ok: true, value: text } : { ok: false, problem };
    },
  };
}

interface WordsOptions<T> {
  readonly read: (word: string) => SettingResult<T>;
  /** Absent: none. */
  readonly defaults?: readonly (T & string)[];
}

/** A flag with values with commas between them. */
export function words<T>(
  placeholder: string,
  description: string,
  { read, defaults = [] }: WordsOptions<T>,
): Setting<readonly T[]> {
  return {
    kind: "list",
    placeholder,
    description,
    defaultText: defaults.join(","),
    defaultValue: defaults,
    read: (text) => readWords(text, read),
  };
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
