import fc from "fast-check";

/** Properties are tried with the same cases every day: a red run is then the change's fault. */
fc.configureGlobal({ seed: 20_261_115 });
