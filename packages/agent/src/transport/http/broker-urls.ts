import { Fault } from "@resource-broker/contract";

const DEFAULT_PORT = 443;

/** One address of the broker. */
export interface BrokerUrl {
  /** As it is shown in messages. */
  readonly text: string;
  readonly host: string;
  readonly port: number;
}

/** Reads the addresses of `--broker-url`; throws a Fault that names the one that is wrong. */
export function readBrokerUrls(texts: readonly string[]): readonly BrokerUrl[] {
  const urls = new Map<string, BrokerUrl>();
  for (const text of texts.map((each) => each.trim())) {
    const url = readBrokerUrl(text);
    urls.set(url.text, url);
  }
  if (urls.size === 0) throw wrong("no address is given", "");
  return [...urls.values()];
}

function readBrokerUrl(text: string): BrokerUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw wrong("it is not a URL", text);
  if (url.protocol !== "https:") throw wrong("it must begin with https://", text);
  if (url.username !== "" || url.password !== "")
    throw wrong("the broker accepts certificates, not passwords", url.origin);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw wrong("it must end after the port, the agent adds the rest", text);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { text: url.origin, host, port: url.port === "" ? DEFAULT_PORT : Number(url.port) };
}

function wrong(problem: string, text: string): Fault {
  return new Fault(
    "invalid",
    `--broker-url ${JSON.stringify(text)}: ${problem}; write for example https://broker.example:8443, several with commas between them`,
  );
}
