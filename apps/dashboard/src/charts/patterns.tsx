const RISING = "M-2 7 7 -2M3 12 12 3";
const FALLING = "M-2 3 7 12M3 -2 12 7";

/** For those who see colours differently, in print, and on a bad projector. A tile joins its neighbours without a seam. */
const PATTERNS: readonly (readonly [name: string, lines: string])[] = [
  ["reserved", RISING],
  ["reason-0", RISING],
  ["reason-1", FALLING],
  ["reason-2", "M5 0V10"],
  ["reason-3", "M0 5H10"],
  ["reason-4", "M5 0V10M0 5H10"],
];

export function isPatterned(name: string): boolean {
  return PATTERNS.some(([patterned]) => patterned === name);
}

export function PatternDefs({ prefix }: { readonly prefix: string }) {
  return (
    <defs>
      {PATTERNS.map(([name, lines]) => (
        <pattern key={name} id={`${prefix}${name}`} width={10} height={10} patternUnits="userSpaceOnUse">
          <path className="pattern-line" d={lines} />
        </pattern>
      ))}
    </defs>
  );
}
