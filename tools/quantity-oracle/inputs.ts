/**
 * What Kubernetes is asked; its answers are in packages/base/src/quantity/oracle-cases.json. Texts that make
 * Kubernetes itself hang, such as `1e-1000000000` and `1e2147483648`, cannot be asked.
 */
interface OracleGroup {
  readonly name: string;
  readonly inputs: readonly string[];
}

const SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const each = (numbers: readonly string[], suffixes: readonly string[]): string[] =>
  numbers.flatMap((number) => suffixes.map((suffix) => number + suffix));

/** Split at plain spaces and line ends only: other white space is part of an input. */
const words = (text: string): string[] => text.split(/[ \n]+/).filter((word) => word !== "");

export const ORACLE_GROUPS: readonly OracleGroup[] = [
  { name: "every suffix on a whole number", inputs: each(["0", "1", "8", "-3"], SUFFIXES) },
  { name: "every suffix on a fraction", inputs: each(["0.5", "1.5", "2.75", "-0.25"], SUFFIXES) },
  { name: "every suffix on numbers that move up a unit", inputs: each(["1000", "1024", "1500"], SUFFIXES) },
  {
    name: "ways to write a number",
    inputs: each([".5", "5.", "+7", "007", "-0.0", "1.500"], ["", "m", "k", "Mi"]),
  },
  {
    name: "what clusters really advertise",
    inputs: words(`
      100m 250m 500m 3920m 15890m 96 128 1930m 64Mi 128Mi 512Mi 2Gi 16Gi 32886592Ki 16393244Ki 7910256Ki
      263840724Ki 58831808Ki 94477937300 18242267924 47093746742 110 250 20Gi 129e6 128974848 128974848000m
      123Mi 0.1 0.25 3.75
    `),
  },
  {
    name: "exponents",
    inputs: words(`
      1e0 1E0 1e1 1e2 1e3 1e4 1e5 1e6 1E6 12e5 1.2e6 5e-1 5e-3 25e-2 1e-9 1e+3 1e-0 1e+0 1e003 1e-003 -1e3
      -1.5e1 +2e2 .5e1 5.e1 100e-2 1000e3 0e5 0e-5 123456789e-9 123456789e-12 9e15 1e18 1e19 1e21 1e30 1e99
      1e100 1.e-1 1e12 1E-3 1E+3 999e-3 1.000e3 1.500e3 0.001e3 1e-10 1e-18 1e-100 -1e-100 2E2 2e0
    `),
  },
  {
    name: "finer than nano",
    inputs: words(`
      0.1n 0.9n 1.1n 1.0n -0.1n -1.1n 0.0001u 0.001u 0.0011u 0.0000001m 0.0000000001 0.000000001
      0.0000000011 1.0000000001 0.9999999999 0.99999999949 -0.9999999999 -1.00000000001
      0.00000000000000000000000000001 0.0000000001Ki 0.0000000001Gi 0.000000000000000001Ei 1.0000000001Ki
      1.0000000001Gi -1.0000000001Ki 0.00000000001k 0.000000000000000000000000000001E 0.0 0.0000000000
      1.23456789012345678901234567890 -0.0000000001 0.0005n 999999999.9999999999
    `),
  },
  {
    name: "fractions of binary units",
    inputs: words(`
      0.1Ki 0.01Ki 0.0001Ki 0.001Ki 1.1Ki 1.0005Ki 0.9999Ki 0.9765625Ki 0.0009765625Ki 0.00048828125Ki
      1.25Mi 0.3Gi 2.2Gi 0.1Gi 3.999Gi 1.333333Ti 0.7Pi 7.5Ei 0.015625Ei -0.5Ki -1.1Ki -1.0005Ki -0.0001Ki
      1.Ki 1.Ei +.5Gi 1.000Gi 0.000976562Ki 0.99Mi 1023.5Ki 1.001Mi 0.125Ti 1.0000Ei
    `),
  },
  {
    name: "where binary units change",
    inputs: words(`
      1023 1025 1023Ki 1025Ki 1048576Ki 1048577Ki 2048Mi 2047Mi 2Ei 7Ei 7168Pi 8191Pi -1024Ki -1023Ki 16Ki
      1000000Ki 125Ki 976562Ki 999999999999Ki 1100Ki 0.9999999999Mi
    `),
  },
  {
    name: "around the largest int64",
    inputs: words(`
      9223372036854775806 9223372036854775807 9223372036854775808 -9223372036854775807 -9223372036854775808
      -9223372036854775809 9.223372036854775807E 9.223372036854775808E 9E 10E 92E 999E 100E 9Ei -8Ei -9Ei
      100Ei 8192Pi 8193Pi 9007199254740992Ki 9007199254740991Ki 7.999Ei 8388608Ti 8796093022208Mi
      99999999999999999999 18446744073709551615 18446744073709551616 -16Ei 1200E 1000000E 10000P
      1000000000000000000000 100000000000000000000000k 1e20 123456789012345678901234567890
      -123456789012345678901234567890 12345678901234567890Gi 9223372036854775807n 9223372036854775807m
      9223372036854775808n 9999999999999999999E -1000E
    `),
  },
  {
    name: "around the largest amount the ledger counts",
    inputs: words(`
      9007199254740990 9007199254740991 9007199254740992 9007199254740993 9007199254740991m
      9007199254740992m 9007199254740.991 9007199254740.992 9007199254740990.5 9007199254740991.5
      9007199254740990.0001 8191Ti 8192Ti 7.999Pi 8796093022207Ki 8796093022208Ki 8589934592Mi 8589934591Mi
      8388607Gi 8388608Gi -9007199254740991 -9007199254740992 9007199254740991000m 9T 9.007199254740991P
      9007199254740991e0 9P 9.1P 999999999999999 999999999999999.9 100000000000000000m
    `),
  },
  {
    name: "at the limits of precision",
    inputs: words(`
      123456789012345 1234567890123456 12345678901234567 123456789012345678 1234567890123456789 0.123456789
      0.1234567891 123456789.123456789 1234567890.123456789 123456789012345.6 0.00000000000001
      100000000000000000000n 1000000000n 1000000n 1001n 999n 1000000u 1001m 999m 1000000m 10000000m
      123450000m 10k 100k 1001k 1000000k 0.1E 0.001k 0.0001k 0.000001M 1.23M 1.2345k 0.0012345k
      000000000000000000000000000000001 0000000000000000000000000000000000000000.5
      1.50000000000000000000000000000000000000 1000.000 10.010
    `),
  },
  {
    name: "negative amounts that do not divide",
    inputs: words(`
      -1.5 -0.5 -1m -1500m -1u -1001u -1.0001 -0.0005 -1n -1000000001n -1.5e0
    `),
  },
  {
    name: "no digits",
    inputs: [
      ...words("+ - . +. -. .m .Ki .Ei -Gi +k e3 E3 .e1 -e-3"),
      ...SUFFIXES.filter((suffix) => suffix !== ""),
    ],
  },
  {
    name: "exponents out of all proportion",
    inputs: words(`
      1e101 1e-101 0e101 1e308 1e309 1e-400 1e1000000000 1e2147483647 1e4294967296 1e4294967299
      1e-4294967296 1e9223372036854775807 1e9223372036854775808 1e-9223372036854775809
      1e99999999999999999999999999
    `),
  },
  {
    name: "longer than 100 characters",
    inputs: ["9".repeat(101), `${"0".repeat(100)}1`, `1.${"0".repeat(100)}`, `1e${"0".repeat(99)}1`],
  },
  {
    name: "exactly 100 characters",
    inputs: [
      "9".repeat(100),
      `${"0".repeat(99)}1`,
      `0.${"0".repeat(97)}1`,
      `${"1".repeat(98)}Ki`,
      `1e${"0".repeat(97)}3`,
      `-${"7".repeat(98)}m`,
    ],
  },
  {
    name: "not a number",
    inputs: [
      "",
      " ",
      ...words(`
      NaN nan Infinity -Infinity inf null true abc 0x10 0b1 0o7 1_0 1,000 1,5 +-1 -+1 --1 ++1 1- 1+ 1-1 1+1
      1..5 1.5.5 ..5 1/2 $1 1% (1) 1e1.5
    `),
    ],
  },
  {
    name: "unknown suffixes",
    inputs: [
      "1e 3",
      ...words(`
      1gi 1GI 1gI 1K 1KI 1kI 1ki 1mi 1MI 1g 1t 1p 1i 1ii 1Kii 1iK 1KiKi 1kk 1mm 1um 1Eii 1B 1b 1KB 1KiB 1Gb
      1MB 1Zi 1Z 1Yi 1µ 1h 1s 1cpu 1e 1e+ 1e- 1E+ 1E- 1ee3 1eE3 1Ee3 1e3e3 1e3k 1e3Ki 1ke3 1Kie3 1m5 1Ki5
      1k+3 1E3i 1E3Ki 1ei 1n1 1u-1 1e--3 1e+-3 1e0x3 1e1_0
    `),
    ],
  },
  {
    name: "spaces and unusual characters",
    inputs: [
      " 1",
      "1 ",
      "1\n",
      "1\r\n",
      "1 Gi",
      ...words(`
      \u00091 1\u00a0 \u00a01 \u20031 \ufeff1 1\u0000 \u00001 １ １Gi ٣ १ ² 1² Ⅷ −1 –1 ＋1 1．5 1·5 1️⃣ 💥 1💥 1Ｇi
      1Gі 1e³ 1\u200b 1\u202e \u03011 ⅿ 1\\n "1" '1' 1; 1# 1\u007f 1\u0085
    `),
    ],
  },
];
