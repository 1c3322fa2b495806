import { createRoot } from "react-dom/client";
import "./design/tokens.css";
import "./design/base.css";
import { createListeners } from "./live/listeners.ts";
import { createLiveConnection } from "./live/live-connection.ts";
import { createApiClient } from "./net/api-client.ts";
import { App } from "./shell/app.tsx";
import { applyTheme, readTheme } from "./shell/theme.ts";
import { createBrokerClock, createTicker, windowTimers } from "./time/clock.ts";
// Imported last: the print styles override the others.
import "./design/print.css";

applyTheme(readTheme(localStorage), document.documentElement, localStorage);

const signedOut = createListeners();
const timers = windowTimers();
const fetch = window.fetch.bind(window);
const visibility = {
  isHidden: () => document.hidden,
  onChange: (listener: () => void) => document.addEventListener("visibilitychange", listener),
};
const random = (): number => (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 255;

const deps = {
  api: createApiClient(fetch, signedOut.notify),
  live: createLiveConnection({ fetch, timers, random, onSignedOut: signedOut.notify }),
  clock: createBrokerClock(timers),
  timers,
  slowTicker: createTicker(5000, timers, visibility),
  fastTicker: createTicker(1000, timers, visibility),
};

const page = document.getElementById("page");
if (page !== null) createRoot(page).render(<App deps={deps} onSignedOut={signedOut.add} />);
