import { type Entry, flagOf, isRecord, listOf, requiredTextOf, textOf, wrong } from "./entry.ts";
import type { ExecCluster, Trust } from "./kube-config.ts";
import { pemOf } from "./material.ts";

/** Under this name a cluster keeps what is meant for credential plugins. */
const PLUGIN_EXTENSION = "client.authentication.k8s.io/exec";

/** `needsTls`: what the user shows can be shown over TLS only. */
export function readCluster(entry: Entry, needsTls: boolean): ExecCluster {
  if (textOf(entry, "proxy-url") !== undefined) {
    throw wrong(entry, "proxy-url is not supported: reach the API server directly, or through a tunnel");
  }
  const trust = readTrust(entry);
  const server = requiredTextOf(
    entry,
    "server",
    "give the API server's address, such as https://10.0.0.1:6443",
  );
  const config = pluginConfigOf(entry);
  return {
    server: readServer(entry, server, needsTls || trust.insecureSkipVerify || trust.ca !== undefined),
    trust,
    ...(config === undefined ? {} : { config }),
  };
}

function readTrust(entry: Entry): Trust {
  const insecureSkipVerify = flagOf(entry, "insecure-skip-tls-verify");
  const ca = pemOf(entry, "certificate-authority");
  const serverName = textOf(entry, "tls-server-name");
  if (insecureSkipVerify && ca !== undefined) {
    throw wrong(entry, "insecure-skip-tls-verify and a certificate authority exclude each other: remove one");
  }
  return {
    insecureSkipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** An address without a scheme is https where anything about TLS is stated, as in kubectl. */
function readServer(entry: Entry, server: string, isHttps: boolean): string {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//iu.test(server)
    ? server
    : `${isHttps ? "https" : "http"}://${server}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw wrong(
      entry,
      `server ${JSON.stringify(server)} is not an address: use one such as https://10.0.0.1:6443`,
    );
  }
  if (url.username !== "" || url.search !== "" || url.hash !== "") {
    throw wrong(entry, `server ${url.origin} must not carry a user, "?" or "#": leave them out`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/u, "");
}

function pluginConfigOf(entry: Entry): unknown {
  const extension = listOf(entry, "extensions").find(
    (candidate) => isRecord(candidate) && candidate["name"] === PLUGIN_EXTENSION,
  );
  return isRecord(extension) ? extension["extension"] : undefined;
}
