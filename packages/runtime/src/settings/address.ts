export interface Address {
  readonly host: string | undefined;
  readonly port: number;
}

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`; "off" for `0` or nothing; undefined for anything else. */
export function parseAddress(text: string): Address | "off" | undefined {
  if (text === "0" || text === "") return "off";
  const [, host = "", digits = ""] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) return undefined;
  return { host: host === "" ? undefined : host.replace(/^\[|\]$/g, ""), port };
}
