/** For those who see colours differently, in print, and on a bad projector. */
export function PatternDefs({ prefix }: { readonly prefix: string }) {
  return (
    <defs>
      <Pattern id={`${prefix}reserved`} d="M-2 8 8 -2M2 12 12 2" />
      <Pattern id={`${prefix}reason-0`} d="M-2 8 8 -2M2 12 12 2" />
      <Pattern id={`${prefix}reason-1`} d="M-2 2 8 12M2 -2 12 8" />
      <Pattern id={`${prefix}reason-2`} d="M5 0V10" />
      <Pattern id={`${prefix}reason-3`} d="M0 5H10" />
      <Pattern id={`${prefix}reason-4`} d="M5 0V10M0 5H10" />
      <Pattern id={`${prefix}available`} d="" />
      <Pattern id={`${prefix}granted`} d="" />
    </defs>
  );
}

function Pattern({ id, d }: { readonly id: string; readonly d: string }) {
  return (
    <pattern id={id} width={10} height={10} patternUnits="userSpaceOnUse">
      <path className="pattern-line" d={d} />
    </pattern>
  );
}
