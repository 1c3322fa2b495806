/** Kubernetes' MicroTime: RFC 3339 with exactly six digits after the point. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace("Z", "000Z");
}
