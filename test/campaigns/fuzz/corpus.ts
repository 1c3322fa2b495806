import type { SeededRandom } from "@resource-broker/testkit";

/** Texts that are quantities, nearly quantities, or should never have been tried as one. */
const QUANTITIES = [
  "0",
  "1",
  "4",
  "+1",
  "-1",
  "-0",
  "1.",
  ".5",
  ".",
  "",
  " ",
  "1 ",
  " 1",
  "1\n",
  "\u00001",
  "0x10",
  "0b1",
  "1_000",
  "1,5",
  "1e3",
  "1E3",
  "1e-3",
  "1e+3",
  "1e",
  "e3",
  "1e100",
  "1e101",
  "1e-100",
  "1e999999999",
  "1e-999999999",
  "1e3Gi",
  "1ee3",
  "500m",
  "0.5",
  "1500u",
  "1n",
  "999999999999999999999",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "8Gi",
  "8gi",
  "8G",
  "8GiB",
  "8Ki",
  "8Ei",
  "8E",
  "9E18",
  "16Ei",
  "1KI",
  "1k",
  "1K",
  "1mi",
  "1Mi",
  "0Gi",
  "0.0001m",
  "0.000000000000000000000000000001",
  "99999999999999999999999999999999999999999999Ei",
  "NaN",
  "Infinity",
  "-Infinity",
  "null",
  "true",
  "１",
  "٣",
  "1‎",
  "1​",
  "½",
  "一",
  "1Gi1Gi",
  "1Gi ",
  "1 Gi",
  "--1",
  "+-1",
  "++1",
  "1-",
  "1+1",
] as const;

/** Texts that break what takes texts for granted. */
const TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\n",
  "\r\n",
  "a\r\nSet-Cookie: x=1",
  "\u202e",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "é",
  "e\u0301",
  "../../etc/passwd",
  "..%2f..%2f",
  "%00",
  "%",
  "%zz",
  "%2e%2e",
  "'; DROP TABLE reservation; --",
  '" OR 1=1',
  "${7*7}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "then",
  "a".repeat(63),
  "a".repeat(64),
  "a".repeat(253),
  "a".repeat(4096),
  "a".repeat(70_000),
  "rsv-fuzz-0-aaaaaaaaaaaaaaaa",
  "fuzz-0",
  "FUZZ-0",
  "fuzz-0.",
  ".fuzz-0",
  "broker",
  "admin",
  "ops",
  "OU=broker-admin",
  "true",
  "null",
  "undefined",
  "NaN",
  "-1",
  "1e309",
  "2026-02-30T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:00:60Z",
  "0000-00-00T00:00:00Z",
  "+292278994-08-17T07:12:55Z",
  "1h",
  "1h1h",
  "0s",
  "-1h",
  "1.5h",
  "99999999h",
  "1d",
  "1e3s",
  "9223372036854775807ns",
  "1h ",
  "h",
  "\u00b5s",
  "1\u00b5s",
  "1\u03bcs",
] as const;

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.5,
  1.5,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  1e21,
  1e100,
  1e308,
  -1e308,
  5e-324,
  0.1 + 0.2,
] as const;

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "length",
  "0",
  "-1",
  "",
  " ",
  "\u0000",
  "cpu\u0000",
  "CPU",
] as const;

export function quantityText(random: SeededRandom): string {
  if (random.chance(0.6)) return random.pick(QUANTITIES) ?? "";
  const digits = Array.from({ length: random.between(1, 18) }, () => random.below(10)).join("");
  const unit =
    random.pick(["", "m", "u", "n", "k", "M", "G", "Ki", "Mi", "Gi", "Ti", "e2", "E-2", "x", " "]) ?? "";
  const point = random.chance(0.3) ? random.below(digits.length) : -1;
  return point === -1 ? digits + unit : `${digits.slice(0, point)}.${digits.slice(point)}${unit}`;
}

export function hostileText(random: SeededRandom): string {
  const roll = random.below(10);
  if (roll < 6) return random.pick(TEXTS) ?? "";
  if (roll < 8) return quantityText(random);
  return Array.from({ length: random.below(40) }, () => String.fromCharCode(random.below(0x250))).join("");
}

export function hostileName(random: SeededRandom): string {
  return random.chance(0.7) ? (random.pick(NAMES) ?? "") : hostileText(random);
}

/** Any JSON value, small but strange. */
export function hostileValue(random: SeededRandom, depth = 0): unknown {
  const roll = random.below(depth > 3 ? 7 : 10);
  switch (roll) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
    case 3:
      return random.pick(NUMBERS);
    case 4:
    case 5:
    case 6:
      return hostileText(random);
    case 7:
      return Array.from({ length: random.below(6) }, () => hostileValue(random, depth + 1));
    default:
      return record(
        Array.from({ length: random.below(5) }, () => [hostileName(random), hostileValue(random, depth + 1)]),
      );
  }
}

/** Own properties whatever they are called: assigning to `__proto__` would not make one. */
export function record(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}
