/** An API server's address, taken apart once. */
export interface Endpoint {
  /** As it was given; for messages. */
  readonly server: string;
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** In front of every path: "" or, behind some proxies, such as `/k8s/clusters/c-1`. */
  readonly prefix: string;
}

export function endpointOf(server: string): Endpoint {
  const url = new URL(server);
  const isSecure = url.protocol === "https:";
  return {
    server,
    isSecure,
    hostname: url.hostname.replace(/^\[|\]$/gu, ""),
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    prefix: url.pathname === "/" ? "" : url.pathname,
  };
}
