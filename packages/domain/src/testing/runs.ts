/** How often a property is tried: a short mode for every day, a long one for `npm run test:long`. */
export function runs(short: number, long: number): { numRuns: number } {
  return { numRuns: process.env["LONG"] === undefined ? short : long };
}
