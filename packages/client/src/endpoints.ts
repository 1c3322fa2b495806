import { type Clock, Fault } from "@resource-broker/base";

/** How messages name the settings of the program that uses the client. */
export interface ClientHints {
  /** What the program is: "agent". */
  readonly program: string;
  /** Where the broker's addresses are set: "--broker-url". */
  readonly url: string;
  /** Where tls.crt, tls.key and ca.crt are: "the folder of --broker-cert-path". */
  readonly certificates: string;
  /** How a certificate that is refused is replaced. Absent: by another in that folder. */
  readonly remedy?: (identity: string) => string;
}

/** What the headers of every answer say. */
export interface ResponseMetadata {
  /** Undefined: not stated. Another ID means that the broker has lost its state. */
  readonly ledgerId: string | undefined;
  /** The broker's clock at the answer, in whole seconds from HTTP's Date. Undefined: not stated. */
  readonly brokerTimeMs: number | undefined;
  /** False: an older broker, which knows only advertisements, reservations and polled instructions. */
  readonly isCurrent: boolean;
  /** True: requests can wait there for capacity. */
  readonly canQueue: boolean;
}

const DEFAULT_PORT = 443;

/** For a program that does not say how its settings are called. */
export const DEFAULT_HINTS: ClientHints = {
  program: "program",
  url: "the broker's address",
  certificates: "the folder with its certificates",
};

/** One address of the broker. */
export interface BrokerUrl {
  /** As it is shown in messages. */
  readonly text: string;
  readonly host: string;
  readonly port: number;
}

/** Reads the addresses of a broker; throws a Fault that names the one that is wrong. */
export function readBrokerUrls(
  texts: readonly string[],
  hints: ClientHints = DEFAULT_HINTS,
): readonly BrokerUrl[] {
  const urls = new Map<string, BrokerUrl>();
  for (const text of texts.map((each) => each.trim())) {
    const url = readBrokerUrl(text, hints);
    urls.set(url.text, url);
  }
  if (urls.size === 0) throw invalidUrl("no address is given", "", hints);
  return [...urls.values()];
}

function readBrokerUrl(text: string, hints: ClientHints): BrokerUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalidUrl("it is not a URL", text, hints);
  if (url.protocol !== "https:") throw invalidUrl("it must begin with https://", text, hints);
  if (url.username !== "" || url.password !== "")
    throw invalidUrl("the broker accepts certificates, not passwords", url.origin, hints);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw invalidUrl(`it must end after the port, the ${hints.program} adds the rest`, text, hints);
  }
  return toBrokerUrl(url);
}

export function toBrokerUrl({ hostname, origin, port }: URL): BrokerUrl {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { text: origin, host, port: port === "" ? DEFAULT_PORT : Number(port) };
}

function invalidUrl(problem: string, text: string, hints: ClientHints): Fault {
  return new Fault(
    "invalid",
    `${hints.url} ${JSON.stringify(text)}: ${problem}; write for example https://broker.example:8443, several with commas between them`,
  );
}

const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 10_000;
const MAX_DOUBLINGS = 10;

/** One address of the broker and what is known of it. */
export interface Endpoint {
  readonly url: BrokerUrl;
  /** Undefined: it has not answered yet. */
  protocol: number | undefined;
  /** One after the other, without a success between them. */
  failures: number;
  /** On the monotonic clock. */
  retryAt: number;
}

/** Chooses the address. Prefers the last that worked; a failed one is skipped for a while. */
export interface Endpoints {
  readonly size: number;
  /** The best address, those not in `tried` first. */
  readonly pick: (tried: ReadonlySet<Endpoint>) => Endpoint;
  /** True when another address is available now: not tried yet, and not in backoff. */
  readonly hasUntried: (tried: ReadonlySet<Endpoint>) => boolean;
  /** How long until the first one may be asked again; 0: now. */
  readonly dueInMs: () => number;
  /** True when it had failed before. */
  readonly succeeded: (endpoint: Endpoint) => boolean;
  /** True when it had not failed before. */
  readonly failed: (endpoint: Endpoint, retryAfterMs: number | undefined) => boolean;
}

/** `random`: from 0 to below 1. */
export function createEndpoints(
  urls: readonly BrokerUrl[],
  clock: Pick<Clock, "monotonicMs">,
  random: () => number,
): Endpoints {
  const all: readonly Endpoint[] = urls.map((url) => ({
    url,
    protocol: undefined,
    failures: 0,
    retryAt: Number.NEGATIVE_INFINITY,
  }));
  let preferred = 0;

  const isDue = ({ retryAt }: Endpoint): boolean => retryAt <= clock.monotonicMs();
  const untried = (tried: ReadonlySet<Endpoint>): Endpoint[] =>
    [...all.slice(preferred), ...all.slice(0, preferred)].filter((endpoint) => !tried.has(endpoint));
  const soonest = (endpoints: readonly Endpoint[]): Endpoint | undefined =>
    endpoints.find(isDue) ?? endpoints.toSorted((a, b) => a.retryAt - b.retryAt)[0];

  return {
    size: all.length,
    pick: (tried) => {
      const found = soonest(untried(tried)) ?? soonest(untried(new Set()));
      if (found === undefined) throw new Error("there is no endpoint to pick");
      return found;
    },
    hasUntried: (tried) => untried(tried).some(isDue),
    dueInMs: () => Math.max(0, Math.min(...all.map(({ retryAt }) => retryAt)) - clock.monotonicMs()),
    succeeded: (endpoint) => {
      const hadFailed = endpoint.failures > 0;
      endpoint.failures = 0;
      endpoint.retryAt = Number.NEGATIVE_INFINITY;
      preferred = all.indexOf(endpoint);
      return hadFailed;
    },
    failed: (endpoint, retryAfterMs = 0) => {
      const wasHealthy = endpoint.failures === 0;
      const doublings = Math.min(endpoint.failures, MAX_DOUBLINGS);
      // Full jitter: agents that lost the same broker must not return at the same time.
      const backOffMs = random() * Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** doublings);
      endpoint.failures += 1;
      endpoint.retryAt = clock.monotonicMs() + Math.max(retryAfterMs, backOffMs);
      return wasHealthy;
    },
  };
}
