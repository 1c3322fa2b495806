import { flagsPage } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { BROKER_ENV_PREFIX, BROKER_SETTINGS } from "./settings/broker-settings.ts";

/** Written anew with `vitest run packages/broker/src/reference.test.ts -u`. */
test("the documented flags are those that the broker knows", async () => {
  const page = flagsPage({
    title: "Flags of the broker",
    about: [
      "Beside these variables the broker reads `KUBECONFIG`, what Kubernetes tells every pod, and for PostgreSQL `PGPASSWORD`",
      "and `PGPASSFILE`. Flags of the Go broker that mean nothing any more (`--zap-*`, `--webhook-cert-*`,",
      "`--enable-http2`) are taken with a warning.",
    ],
    settings: BROKER_SETTINGS,
    environmentPrefix: BROKER_ENV_PREFIX,
  });
  await expect(page).toMatchFileSnapshot("../../../docs/reference/broker-flags.md");
});
