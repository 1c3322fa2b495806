import { quoted } from "../../go-text.ts";
import { durationText, timestampText } from "../time.ts";
import { failure, isTagged, numeric, type Value } from "../values.ts";
import { doubleText } from "./conversions.ts";

const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z]))/g;
const DEFAULT_PRECISION = 6;

/** `'%s has %d'.format(['paris', 3])` */
export function formatted(template: string, args: readonly Value[]): Value {
  let next = 0;
  let problem: Value | undefined;
  const text = template.replaceAll(CLAUSE, (clause: string, precision?: string, verb?: string) => {
    if (clause === "%%") return "%";
    const value = args[next];
    const result =
      value === undefined
        ? failure(`index ${next} out of range`)
        : clauseText(verb ?? "", value, Number(precision ?? DEFAULT_PRECISION));
    next++;
    if (typeof result === "string") return result;
    problem ??= result;
    return "";
  });
  return problem ?? text;
}

function clauseText(verb: string, value: Value, precision: number): Value {
  const number = numeric(value);
  switch (verb) {
    case "s":
      return shown(value);
    case "d":
      return number === undefined ? wrong("d", "integer") : String(number);
    case "f":
      return number === undefined ? wrong("f", "double") : Number(number).toFixed(precision);
    case "e":
      return number === undefined ? wrong("e", "double") : exponent(Number(number), precision);
    case "b":
      return typeof number === "bigint" ? number.toString(2) : wrong("b", "integer");
    case "o":
      return typeof number === "bigint" ? number.toString(8) : wrong("o", "integer");
    case "x":
      return hexText(value);
    case "X": {
      const text = hexText(value);
      return typeof text === "string" ? text.toUpperCase() : text;
    }
    default:
      return failure(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function exponent(value: number, precision: number): string {
  const [mantissa = "", power = ""] = value.toExponential(precision).split("e");
  return `${mantissa}e${power[0] ?? "+"}${power.slice(1).padStart(2, "0")}`;
}

function hexText(value: Value): Value {
  if (typeof value === "bigint") return value.toString(16);
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  if (isTagged(value, "uint")) return value.value.toString(16);
  return isTagged(value, "bytes")
    ? Buffer.from(value.bytes).toString("hex")
    : wrong("x", "integer, string or bytes");
}

function shown(value: Value): Value {
  if (typeof value === "string") return value;
  if (typeof value === "number") return doubleText(value);
  if (typeof value !== "object") return String(value);
  if (value === null) return "null";
  switch (value.kind) {
    case "uint":
      return String(value.value);
    case "bytes":
      return Buffer.from(value.bytes).toString();
    case "duration":
      return durationText(value.nanos);
    case "timestamp":
      return timestampText(value.nanos);
    case "type":
      return value.name;
    case "list":
      return allShown(value.items, (texts) => `[${texts.join(", ")}]`);
    case "map":
      return allShown([...value.entries].flat(), pairsText);
    default:
      return wrong("s", "string, number, boolean, list, map, duration or timestamp");
  }
}

function allShown(values: readonly Value[], write: (texts: readonly string[]) => string): Value {
  const texts: string[] = [];
  for (const value of values) {
    const text = typeof value === "string" ? quoted(value) : shown(value);
    if (typeof text !== "string") return text;
    texts.push(text);
  }
  return write(texts);
}

function pairsText(texts: readonly string[]): string {
  const pairs = texts.flatMap((text, index) =>
    index % 2 === 0 ? [`${text}: ${texts[index + 1] ?? ""}`] : [],
  );
  return `{${pairs.sort().join(", ")}}`;
}

function wrong(verb: string, wanted: string): Value {
  return failure(`error during formatting: %${verb} clause can only be used on ${wanted}`);
}
