/** Flags of an agent that say what its cluster asks for one hour. */
export function price(cpu: string, memory: string, gpu?: string): string[] {
  return [
    `--price-cpu=${cpu}`,
    `--price-memory=${memory}`,
    ...(gpu === undefined ? [] : [`--price-gpu=${gpu}`]),
    "--price-currency=EUR",
  ];
}
